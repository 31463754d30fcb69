package gitea

import (
	"context"
	"fmt"
	"net/http"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxDescription bounds the description of a commit status, in characters: GitHub's
// limit, and what the page shows.
const maxDescription = 140

// Check sets a commit status, because Gitea has no checks. The newest status of a
// name counts. It has the title and the URL, but no body. Neutral becomes the state
// "warning", which newer servers treat as a success. Incomplete becomes "error", which
// they do not; "pending" would never end.
func (c *Client) Check(ctx context.Context, repo precedent.Repo, k forge.Check) (forge.Unsupported, error) {
	doing := fmt.Sprintf("set status of %s in %s", text.Cut(k.Commit, 12), repo)
	do, err := c.begin(ctx, repo, doing)
	if err != nil {
		return "", err
	}
	if !objectID().MatchString(k.Commit) {
		return "", &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a commit id"}
	}
	states := map[forge.CheckResult]sdk.StatusState{forge.Success: sdk.StatusSuccess, forge.Failure: sdk.StatusFailure, forge.Neutral: sdk.StatusWarning}
	state, ok := states[k.Result]
	if !ok {
		state = sdk.StatusError
	}
	_, _, err = do.CreateStatus(repo.Owner, repo.Name, k.Commit, sdk.CreateStatusOption{
		State: state, Context: k.Name, Description: text.Cut(text.VisibleLine(k.Title), maxDescription), TargetURL: k.URL,
	})
	if statusOf(err) == http.StatusForbidden {
		return "the token cannot set commit statuses: it needs the scope write:repository, and its account needs write access", nil
	}
	return "", do.fail(err)
}
