package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// ReadComment reads one comment on a pull request. For one on lines it reads the reviews of the
// pull request: Gitea returns no other comment by its id than those on the pull request as a
// whole.
func (c *Client) ReadComment(ctx context.Context, repo precedent.Repo, number int, m forge.CommentRef) (forge.Comment, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("read comment %s on %s#%d", m.ID, repo, number), m.ID)
	if err != nil {
		return forge.Comment{}, err
	}
	switch m.Kind {
	case forge.OnThread:
		one := new(sdk.Comment)
		err := c.send(ctx, do, http.MethodGet, fmt.Sprintf("repos/%s/%s/issues/comments/%d", repo.Owner, repo.Name, m.ID.Number()), nil, one)
		switch {
		case statusOf(err) == http.StatusNotFound, err == nil && one.ID == 0, // 204: a comment of another kind
			err == nil && forge.LastNumber(cmp.Or(one.PRURL, one.IssueURL)) != number:
			return forge.Comment{}, forge.NoComment(do.doing)
		case err != nil:
			return forge.Comment{}, err
		}
		return c.onThread(one), nil
	case forge.OnReview:
		one, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), m.ID.Number())
		switch {
		case statusOf(err) == http.StatusNotFound, err == nil && one.State == sdk.ReviewStatePending:
			return forge.Comment{}, forge.NoComment(do.doing)
		case err != nil:
			return forge.Comment{}, do.fail(err)
		}
		return c.onReview(one), nil
	case forge.OnLine:
		found, err := c.find(do, repo, number, m.ID)
		switch {
		case statusOf(err) == http.StatusNotFound, err == nil && found == nil:
			return forge.Comment{}, forge.NoComment(do.doing)
		case err != nil:
			return forge.Comment{}, err
		}
		return found.Comment, nil
	}
	return forge.Comment{}, &forge.Error{Kind: forge.KindRefused, Msg: fmt.Sprintf("unknown kind of comment %q", m.Kind)}
}
