package gitea

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// blocks reports whether a review requests changes, and nobody has dismissed it.
func blocks(r *sdk.PullReview) bool { return r.State == sdk.ReviewStateRequestChanges && !r.Dismissed }

// Dismiss takes back the request for changes of a review. Gitea lets only administrators of
// the repository do that, and refuses it on a closed pull request.
func (c *Client) Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID, why string) (forge.Unsupported, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("take back the request for changes on %s#%d", repo, number), review)
	if err != nil {
		return "", err
	}
	_, err = do.DismissPullReview(repo.Owner, repo.Name, int64(number), review.Number(), sdk.DismissPullReviewOptions{Message: why})
	refusal := do.fail(err)
	if err == nil || !slices.Contains([]int{http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnprocessableEntity}, statusOf(refusal)) {
		return "", refusal
	}
	now, _, err := do.GetPullReview(repo.Owner, repo.Name, int64(number), review.Number())
	switch {
	case statusOf(err) == http.StatusNotFound, err == nil && !blocks(now):
		return "", nil
	case err != nil:
		return "", do.fail(err)
	}
	var e *forge.Error
	errors.As(refusal, &e)
	return forge.Unsupported(e.Msg + ": an administrator of the repository has to dismiss the review"), nil
}
