package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// ReadComment reads one comment on a pull request, with one request.
func (c *Client) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment, error) {
	doing := fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number)
	ctx, err := c.begin(ctx, doing, repo, m.ID)
	if err != nil {
		return forge.Comment{}, err
	}
	var found forge.Comment
	on := number // the pull request that it is on
	switch m.Kind {
	case forge.OnThread:
		var one *gh.IssueComment
		if one, _, err = c.api.Issues.GetComment(ctx, repo.Owner, repo.Name, m.ID.Number()); err == nil {
			found, on = c.onThread(one), forge.LastNumber(one.GetIssueURL())
		}
	case forge.OnReview:
		var one *gh.PullRequestReview
		if one, _, err = c.api.PullRequests.GetReview(ctx, repo.Owner, repo.Name, number, m.ID.Number()); err == nil && one.SubmittedAt != nil {
			found = c.onReview(one)
		}
	case forge.OnLine:
		var one *gh.PullRequestComment
		if one, _, err = c.api.PullRequests.GetComment(ctx, repo.Owner, repo.Name, m.ID.Number()); err == nil {
			found, on = c.onLine(one), forge.LastNumber(one.GetPullRequestURL())
		}
	default:
		err = noSuchKind(m.Kind)
	}
	switch {
	case wire.Gone(err), err == nil && on != number:
		return forge.Comment{}, forge.NoComment(doing)
	case err != nil:
		return forge.Comment{}, c.wire.Fail(doing, err)
	case found.ID != m.ID:
		return forge.Comment{}, wire.UnexpectedAnswer(doing, "it describes another comment")
	}
	return found, nil
}
