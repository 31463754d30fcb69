package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxCheck bounds the text of a check, in bytes without the ellipsis of a cut one. GitHub's documentation counts characters,
// but it answers "summary exceeds a maximum bytesize of 65535".
const maxCheck = 65_535 - len(" …")

type checkRun struct {
	ID                       int64
	Name, Status, Conclusion string
	HeadSHA                  string             `json:"head_sha"`
	HTMLURL                  string             `json:"html_url"`
	StartedAt                time.Time          `json:"started_at"`
	Suite                    struct{ ID int64 } `json:"check_suite"`
	App                      struct {
		ID   int64
		Slug string
	}
}

// checkRuns reads the check runs of a commit, of a name if it is not empty.
func checkRuns(do wire.Call, commit, name string) ([]*checkRun, error) {
	path := "commits/" + commit + "/check-runs"
	if name != "" {
		path += "?check_name=" + url.QueryEscape(name)
	}
	type page struct {
		CheckRuns []*checkRun `json:"check_runs"`
	}
	return wire.ListIn(do, func(p page) []*checkRun { return p.CheckRuns }, "%s", path)
}

// Check reports the result of a review as a check run. Only apps can create them, including workflow runs.
func (c *Client) Check(ctx context.Context, repo precedent.Repo, k forge.Check) (forge.Unsupported, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("set check %q in %s", k.Name, repo)).
		Only(git.IsObjectID(k.Commit), "not a commit id")
	before, err := c.previousCheck(do, k)
	if err != nil {
		return checksUnsupported(err)
	}
	result := string(forge.Neutral)
	if k.Result == forge.Success || k.Result == forge.Failure {
		result = string(k.Result)
	}
	body := map[string]any{
		"name": k.Name, "external_id": k.Review, "status": "completed", "conclusion": result,
		"output": map[string]string{
			"title": cmp.Or(k.Title, k.Name), "summary": text.Head(cmp.Or(k.Body, k.Title, k.Name), maxCheck),
		},
	}
	if k.URL != "" {
		body["details_url"] = k.URL
	}
	method, path := http.MethodPatch, "check-runs/"+strconv.FormatInt(before, 10)
	if before == 0 {
		method, path, body["head_sha"] = http.MethodPost, "check-runs", k.Commit
	}
	var run checkRun
	err = do.Send(method, body, &run, "%s", path)
	if err == nil && run.ID <= 0 {
		err = do.UnexpectedAfterChange("the check run has no id")
	}
	return checksUnsupported(err)
}

// previousCheck finds the check run to update: the latest of that name and commit by
// the app that posts. An app cannot change those of others, nor a workflow those of jobs. 0 if there is none.
func (c *Client) previousCheck(do wire.Call, k forge.Check) (int64, error) {
	all, err := checkRuns(do, k.Commit, k.Name)
	if err != nil {
		return 0, err
	}
	me, err := c.Me(do.Context())
	last := int64(0)
	for _, run := range all {
		job := strings.Contains(run.HTMLURL, "/actions/runs/")
		if run.Name == k.Name && run.HeadSHA == k.Commit && run.App.Slug+"[bot]" == me.Login && !job {
			last = max(last, run.ID)
		}
	}
	return last, err
}

// checksUnsupported turns a missing permission into an Unsupported. GitHub returns
// 404 instead of 403 for what it wants to hide.
func checksUnsupported(err error) (forge.Unsupported, error) {
	if wire.Gone(err) || isForbidden(err) {
		return forge.Unsupported(err.Error() + ": check runs need a GitHub App or a workflow token with checks: write"), nil
	}
	return "", err
}

// Checks lists the check runs and the statuses of a commit: of each name, the newest of each app and
// check suite, and the newest status of each context. An app needs checks: read and statuses: read.
func (c *Client) Checks(ctx context.Context, repo precedent.Repo, commit string) ([]forge.CommitCheck, error) {
	do := c.Begin(ctx, repo, fmt.Sprintf("list checks of %.12q in %s", commit, repo)).
		Only(git.IsObjectID(commit), "not a commit id")
	runs, more := checkRuns(do, commit, "")
	if more != nil && !forge.IsPartial(more) {
		return nil, checksHint(more)
	}
	me, wrong := c.Me(ctx)
	if wrong != nil {
		return nil, wrong
	}
	all, err := wire.Statuses(do, commit, me)
	if err != nil && !forge.IsPartial(err) {
		return nil, checksHint(err)
	}
	for _, r := range runs {
		all = append(all, forge.Report{
			Number: r.ID, Maker: "app " + strconv.FormatInt(r.App.ID, 10), Suite: r.Suite.ID,
			Void: r.Conclusion == "cancelled" || r.Conclusion == "stale",
			CommitCheck: forge.CommitCheck{
				Name: r.Name, State: runState(r.Status, r.Conclusion), URL: r.HTMLURL, Started: r.StartedAt.UTC(),
				Own: r.Name == forge.CheckName && r.App.Slug+"[bot]" == me.Login,
			},
		})
	}
	return forge.NewestChecks(all), cmp.Or(more, err)
}

// checksHint tells which permissions are needed: without one of the lists it is not known whether the
// CI passed.
func checksHint(err error) error {
	e, ok := errors.AsType[*forge.Error](err)
	if !ok || !isForbidden(err) {
		return err
	}
	said := *e
	said.Hint = "to read what the CI reports, the token needs checks: read and commit statuses: read"
	return &said
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
