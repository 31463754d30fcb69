package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v88/github"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxCheck bounds the text of a check, in characters ("Create a check run").
const maxCheck = 65_535

// Check reports the result of a review as a check run. Only apps can create them,
// including workflow runs.
func (c *Client) Check(ctx context.Context, repo precedent.Repo, k forge.Check) (forge.Unsupported, error) {
	doing := fmt.Sprintf("set check %q in %s", k.Name, repo)
	ctx, err := c.begin(ctx, doing, repo)
	if err != nil {
		return "", err
	}
	if !objectID().MatchString(k.Commit) {
		return "", &forge.Error{Kind: forge.KindRefused, Msg: doing + ": not a commit id"}
	}
	before, err := c.previousCheck(ctx, doing, repo, k)
	if err != nil {
		return checksUnsupported(err)
	}
	status, result := "completed", string(forge.Neutral)
	if k.Result == forge.Success || k.Result == forge.Failure {
		result = string(k.Result)
	}
	title, words := cmp.Or(k.Title, k.Name), text.Cut(cmp.Or(k.Body, k.Title, k.Name), maxCheck)
	var address *string
	if k.URL != "" {
		address = &k.URL
	}
	output := &gh.CheckRunOutput{Title: &title, Summary: &words}
	var run *gh.CheckRun
	a, err := c.write(ctx, doing, func(ctx context.Context) (err error) {
		if before != 0 {
			run, _, err = c.api.Checks.UpdateCheckRun(ctx, repo.Owner, repo.Name, before, gh.UpdateCheckRunOptions{
				Name: k.Name, DetailsURL: address, ExternalID: &k.Review, Status: &status, Conclusion: &result, Output: output,
			})
			return err
		}
		run, _, err = c.api.Checks.CreateCheckRun(ctx, repo.Owner, repo.Name, gh.CreateCheckRunOptions{
			Name: k.Name, HeadSHA: k.Commit, DetailsURL: address, ExternalID: &k.Review, Status: &status, Conclusion: &result, Output: output,
		})
		return err
	})
	if err != nil {
		return checksUnsupported(err)
	}
	if run.GetID() <= 0 {
		return "", a.UnexpectedAnswer(doing, "the check run has no id")
	}
	return "", nil
}

// previousCheck finds the check run to update: the latest of that name and commit by
// the app that posts. An app cannot change those of others. 0 if there is none.
func (c *Client) previousCheck(ctx context.Context, doing string, repo precedent.Repo, k forge.Check) (int64, error) {
	me, err := c.Me(ctx)
	if err != nil {
		return 0, err
	}
	all, err := listAll(c, doing, func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		found, resp, err := c.api.Checks.ListCheckRunsForRef(ctx, repo.Owner, repo.Name, k.Commit, &gh.ListCheckRunsOptions{CheckName: &k.Name, ListOptions: o})
		if err != nil {
			return nil, resp, err
		}
		return found.CheckRuns, resp, nil
	})
	if err != nil {
		return 0, err
	}
	last := int64(0)
	for _, run := range all {
		if run.GetName() == k.Name && run.GetHeadSHA() == k.Commit && run.GetApp().GetSlug()+"[bot]" == me.Login {
			last = max(last, run.GetID())
		}
	}
	return last, nil
}

// checksUnsupported turns a missing permission into an Unsupported. GitHub returns
// 404 instead of 403 for what it wants to hide.
func checksUnsupported(err error) (forge.Unsupported, error) {
	var e *forge.Error
	if wire.Gone(err) || errors.As(err, &e) && e.Kind == forge.KindAuth && e.Status == http.StatusForbidden {
		return forge.Unsupported(err.Error() + ": check runs need a GitHub App or a workflow token with checks: write"), nil
	}
	return "", err
}
