package github

import (
	"context"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// Comment comments on the pull request as a whole.
func (c *Client) Comment(ctx context.Context, repo precedent.Repo, number int, body string) (forge.Comment, error) {
	doing := fmt.Sprintf("comment on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return forge.Comment{}, err
	}
	var m *gh.IssueComment
	a, err := c.write(ctx, doing, func(ctx context.Context) (err error) {
		m, _, err = c.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, number, &gh.IssueComment{Body: &body})
		return err
	})
	if err != nil {
		return forge.Comment{}, err
	}
	return checkCreated(a, doing, c.onThread(m))
}

// Reply replies in the conversation that starts with the inline comment.
func (c *Client) Reply(ctx context.Context, repo precedent.Repo, number int, to precedent.ForgeID, body string) (forge.Comment, error) {
	doing := fmt.Sprintf("reply to a comment on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo, to)
	if err != nil {
		return forge.Comment{}, err
	}
	var m gh.PullRequestComment
	a, err := c.write(ctx, doing, func(ctx context.Context) error {
		address := fmt.Sprintf("repos/%s/%s/pulls/%d/comments/%d/replies", repo.Owner, repo.Name, number, to.Number())
		req, err := c.api.NewRequest(ctx, http.MethodPost, address, struct {
			Body string `json:"body"`
		}{body})
		if err != nil {
			return err
		}
		_, err = c.api.Do(req, &m)
		return err
	})
	if err != nil {
		return forge.Comment{}, err
	}
	return checkCreated(a, doing, c.onLine(&m))
}

// checkCreated returns a new comment if the response contains it.
func checkCreated(a *wire.Attempt, doing string, m forge.Comment) (forge.Comment, error) {
	if m.ID.Number() <= 0 || m.At.IsZero() {
		return forge.Comment{}, a.UnexpectedAnswer(doing, "the comment has no id or no time")
	}
	return m, nil
}

// Edit replaces the text of a comment. Nobody edits the text of a review.
func (c *Client) Edit(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef, body string) error {
	doing := fmt.Sprintf("edit a comment on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo, m.ID)
	if err != nil {
		return err
	}
	var id int64
	a, err := c.write(ctx, doing, func(ctx context.Context) error {
		switch m.Kind {
		case forge.OnThread:
			edited, _, err := c.api.Issues.EditComment(ctx, repo.Owner, repo.Name, m.ID.Number(), &gh.IssueComment{Body: &body})
			id = edited.GetID()
			return err
		case forge.OnLine:
			edited, _, err := c.api.PullRequests.EditComment(ctx, repo.Owner, repo.Name, m.ID.Number(), &gh.PullRequestComment{Body: &body})
			id = edited.GetID()
			return err
		}
		return noSuchKind(m.Kind)
	})
	if err == nil && id != m.ID.Number() {
		return a.UnexpectedAnswer(doing, "it describes another comment")
	}
	return err
}

func noSuchKind(k forge.CommentKind) error {
	return &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("unknown kind of comment %q", k)}
}

// Delete deletes a comment. GitHub cannot delete the text of a review, so it is
// minimized as a duplicate.
func (c *Client) Delete(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Unsupported, error) {
	doing := fmt.Sprintf("delete a comment on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo, m.ID)
	if err != nil {
		return "", err
	}
	if m.Kind == forge.OnReview {
		return c.minimize(ctx, doing, repo, number, m.ID.Number())
	}
	_, err = c.write(ctx, doing, func(ctx context.Context) (err error) {
		switch m.Kind {
		case forge.OnThread:
			_, err = c.api.Issues.DeleteComment(ctx, repo.Owner, repo.Name, m.ID.Number())
		case forge.OnLine:
			_, err = c.api.PullRequests.DeleteComment(ctx, repo.Owner, repo.Name, m.ID.Number())
		default:
			err = noSuchKind(m.Kind)
		}
		return err
	})
	if wire.Gone(err) {
		return "", nil
	}
	return "", err
}

// minimize hides the text of a review.
func (c *Client) minimize(ctx context.Context, doing string, repo precedent.Repo, number int, id int64) (forge.Unsupported, error) {
	r, _, err := c.api.PullRequests.GetReview(ctx, repo.Owner, repo.Name, number, id)
	switch {
	case wire.Gone(err):
		return "", nil
	case err != nil:
		return "", c.wire.Fail(doing, err)
	case r.GetNodeID() == "":
		return "", wire.UnexpectedAnswer(doing, "the review has no node id")
	}
	var got struct {
		MinimizeComment *struct{ MinimizedComment *struct{ IsMinimized bool } }
	}
	return threadsUnsupported(c.mutate(ctx, doing, doMinimize, map[string]any{"id": r.GetNodeID()}, &got))
}

// Reactions reads the reactions to a comment. The REST API has none for the text of a
// review.
func (c *Client) Reactions(ctx context.Context, repo precedent.Repo, number int, to forge.CommentRef) ([]forge.Reaction, error) {
	doing := fmt.Sprintf("read reactions to a comment on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo, to.ID)
	if err != nil {
		return nil, err
	}
	if to.Kind == forge.OnReview {
		return nil, nil
	}
	listed, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.Reaction, *gh.Response, error) {
		switch to.Kind {
		case forge.OnThread:
			return c.api.Reactions.ListIssueCommentReactions(ctx, repo.Owner, repo.Name, to.ID.Number(), &gh.ListReactionOptions{ListOptions: o})
		case forge.OnLine:
			return c.api.Reactions.ListPullRequestCommentReactions(ctx, repo.Owner, repo.Name, to.ID.Number(), &gh.ListReactionOptions{ListOptions: o})
		}
		return nil, nil, noSuchKind(to.Kind)
	})
	var all []forge.Reaction
	for _, r := range listed {
		all = append(all, forge.Reaction{Who: person(r.User), Content: r.GetContent(), At: r.GetCreatedAt().UTC()})
	}
	return all, err
}
