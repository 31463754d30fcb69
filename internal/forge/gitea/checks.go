package gitea

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxDescription bounds the description of a commit status, in characters: GitHub's
// limit, and what the page shows.
const maxDescription = 140

// Check sets a commit status, because Gitea has no checks. The newest status of a name counts. It has the
// title and the URL, but no body. Neutral becomes the state "warning", which newer servers treat as a
// success. Incomplete becomes "error", which they do not; "pending" would never end.
func (c *Client) Check(ctx context.Context, repo precedent.Repo, k forge.Check) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("set status of %s in %s", text.Cut(k.Commit, 12), repo)).
		Only(git.IsObjectID(k.Commit), "not a commit id")
	states := map[forge.CheckResult]string{forge.Success: "success", forge.Failure: "failure", forge.Neutral: "warning"}
	err := do.Send(http.MethodPost, map[string]string{
		"state": cmp.Or(states[k.Result], "error"), "context": k.Name, "target_url": k.URL,
		"description": text.Cut(text.VisibleLine(k.Title), maxDescription),
	}, nil, "statuses/%s", k.Commit)
	if wire.Status(err) == http.StatusForbidden {
		return "the token cannot set commit statuses: it needs the scope write:repository, and its account needs write access", nil
	}
	return "", err
}

// Checks lists the statuses of a commit, the newest of each context: Gitea has no check runs, and its
// Actions set statuses.
func (c *Client) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("list statuses of %.12q in %s", commit, repo)).
		Only(git.IsObjectID(commit), "not a commit id")
	me, wrong := c.Me(ctx)
	if wrong != nil {
		return nil, wrong
	}
	all, err := wire.Statuses(do, commit, me)
	if err != nil && !forge.IsPartial(err) {
		return nil, err
	}
	return forge.NewestChecks(all), err
}
