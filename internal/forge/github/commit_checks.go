package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Checks lists the check runs and the statuses of a commit: of each name, the newest of each app and
// check suite, and the newest status of each context. An app needs checks: read and statuses: read.
func (c *Client) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	doing := fmt.Sprintf("list checks of %.12q in %s", commit, repo)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return nil, err
	}
	if !objectID().MatchString(commit) {
		return nil, &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a commit id"}
	}
	me, err := c.Me(ctx)
	if err != nil {
		return nil, err
	}
	runs, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		found, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, commit, &gh.ListCheckRunsOptions{ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return found.CheckRuns, resp, nil
	})
	more := err
	if err != nil && !isTooMany(err) {
		return nil, checksHint(err)
	}
	statuses, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		return c.api.Repositories.ListStatuses(ctx, repo.Owner, repo.Name, commit, &o)
	})
	if err != nil && !isTooMany(err) {
		return nil, checksHint(err)
	}
	var all []forge.Report
	for _, r := range runs {
		app := r.GetApp()
		own := r.GetName() == forge.CheckName && app.GetSlug()+"[bot]" == me.Login
		conclusion := r.GetConclusion()
		all = append(all, forge.Report{
			Number: r.GetID(), Maker: "app " + strconv.FormatInt(app.GetID(), 10), Suite: r.GetCheckSuite().GetID(), Void: conclusion == "cancelled" || conclusion == "stale",
			CommitCheck: forge.CommitCheck{Name: r.GetName(), State: runState(r.GetStatus(), conclusion), URL: r.GetHTMLURL(), Started: r.GetStartedAt().UTC(), Own: own},
		})
	}
	for _, s := range statuses {
		own := s.GetContext() == forge.CheckName && precedent.NumberID(s.GetCreator().GetID()) == me.ID
		all = append(all, forge.Report{Number: s.GetID(), Maker: "status", CommitCheck: forge.CommitCheck{
			Name: s.GetContext(), State: statusState(s.GetState()), URL: s.GetTargetURL(), Started: s.GetCreatedAt().UTC(), Own: own,
		}})
	}
	if more == nil {
		more = err
	}
	return forge.NewestChecks(all), more
}

// checksHint tells which permissions are needed: without one of the lists it is not known whether the
// CI passed.
func checksHint(err error) error {
	if e, ok := errors.AsType[*forge.Error](err); ok && e.Kind == forge.KindAuth && e.Status == http.StatusForbidden {
		said := *e
		said.Hint = "to read what the CI reports, the token needs checks: read and commit statuses: read"
		return &said
	}
	return err
}

// isTooMany reports whether a list was read in part.
func isTooMany(err error) bool {
	e, ok := errors.AsType[*forge.Error](err)
	return ok && e.Kind == forge.KindTooLarge && e.Status == 0
}

// runState is the state of a check run. A status that is not known counts as pending, and a
// conclusion that is not known as failed.
func runState(status, conclusion string) forge.CheckState {
	if status != "completed" {
		return forge.CheckPending
	}
	switch conclusion {
	case "success":
		return forge.CheckPassed
	case "neutral", "skipped":
		return forge.CheckSkipped
	}
	return forge.CheckFailed // also cancelled, timed_out, action_required, stale
}

// statusState is the state of a commit status.
func statusState(state string) forge.CheckState {
	switch state {
	case "success":
		return forge.CheckPassed
	case "failure", "error":
		return forge.CheckFailed
	}
	return forge.CheckPending
}
