package gitea

import (
	"context"
	"errors"
	"fmt"

	sdk "code.gitea.io/sdk/gitea"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Checks lists the statuses of a commit, the newest of each context: Gitea has no check runs, and its
// Actions set statuses.
func (c *Client) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	do, err := c.begin(ctx, repo, fmt.Sprintf("list statuses of %.12q in %s", commit, repo))
	if err != nil {
		return nil, err
	}
	if !objectID().MatchString(commit) {
		return nil, &forge.Error{Kind: forge.KindRefused, Msg: do.doing + ": not a commit id"}
	}
	me, err := c.Me(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := listAll(do, func(o sdk.ListOptions) ([]*sdk.Status, *sdk.Response, error) {
		return do.ListStatuses(repo.Owner, repo.Name, commit, sdk.ListStatusesOption{ListOptions: o})
	})
	if e, ok := errors.AsType[*forge.Error](err); err != nil && (!ok || e.Kind != forge.KindTooLarge || e.Status != 0) {
		return nil, err
	}
	var all []forge.Report
	for _, s := range listed {
		own := s.Context == forge.CheckName && s.Creator != nil && person(s.Creator).ID == me.ID
		all = append(all, forge.Report{Number: s.ID, CommitCheck: forge.CommitCheck{
			Name: s.Context, State: stateOf(s.State), URL: s.TargetURL, Started: s.Created.UTC(), Own: own,
		}})
	}
	return forge.NewestChecks(all), err
}

// stateOf maps the states of Gitea. A warning lets a pull request be merged.
func stateOf(s sdk.StatusState) forge.CheckState {
	switch s {
	case sdk.StatusSuccess, sdk.StatusWarning:
		return forge.CheckPassed
	case sdk.StatusFailure, sdk.StatusError:
		return forge.CheckFailed
	case "skipped": // Gitea since 1.24
		return forge.CheckSkipped
	}
	return forge.CheckPending
}
