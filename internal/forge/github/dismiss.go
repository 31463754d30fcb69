package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// stateBlocks is the state of a review that blocks merging. It stays until the review is
// dismissed or its author approves (PullRequestReviewState of the GraphQL schema).
const stateBlocks = "CHANGES_REQUESTED"

// Dismiss takes back the request for changes of a review. On a protected branch, only
// administrators and people who are listed there may ("Dismiss a review for a pull request").
func (c *Client) Dismiss(ctx context.Context, repo precedent.Repo, number int, review precedent.ForgeID, why string) (forge.Unsupported, error) {
	doing := fmt.Sprintf("take back the request for changes on %s#%d", repo, number)
	ctx, err := c.begin(ctx, doing, repo, review)
	if err != nil {
		return "", err
	}
	_, err = c.write(ctx, doing, func(ctx context.Context) error {
		_, _, err := c.api.PullRequests.DismissReview(ctx, repo.Owner, repo.Name, number, review.Number(), &gh.PullRequestReviewDismissalRequest{Message: &why})
		return err
	})
	var e *forge.Error
	if !errors.As(err, &e) || !slices.Contains([]int{http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity}, e.Status) || e.Kind == forge.KindRate {
		return "", err
	}
	now, _, err := c.api.PullRequests.GetReview(ctx, repo.Owner, repo.Name, number, review.Number())
	switch {
	case wire.Gone(err), err == nil && now.GetState() != stateBlocks:
		return "", nil
	case err != nil:
		return "", c.wire.Fail(doing, err)
	}
	return forge.Unsupported(e.Msg + ": dismiss the review, or allow the account to dismiss reviews of the protected branch"), nil
}
