package post

import (
	"context"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

// checkName is the name of the check, which branch protection rules refer to.
const checkName = "precedent"

// postChecks posts the result of the review as a check on the commit.
func (j *job) postChecks(ctx context.Context) error {
	for _, p := range j.unsent(store.PostCheck) {
		if err := j.sendUntilDone(ctx, p, j.postCheck); err != nil {
			return err
		}
	}
	return nil
}

// postCheck sends the check. The forge replaces an existing one. After an attempt without an
// answer it first gets time to show the result.
func (j *job) postCheck(ctx context.Context, p *store.Post) error {
	if p.Attempts > 0 {
		if err := j.Sleep(ctx, maxLooks*listLag); err != nil {
			return err
		}
	}
	page, err := j.page(p)
	if err != nil {
		return err
	}
	end := payload[checkPayload](*p)
	result, title := report.Check(j.review, end.FailOn, end.PassWithoutModel)
	c := forge.Check{
		Name: checkName, Commit: j.review.Head, Review: j.review.ID, Result: forge.CheckResult(result),
		Title: title, Body: j.writer.Safe(page), URL: j.d.URL,
	}
	if err := j.markSending(ctx, p); err != nil {
		return err
	}
	unsupported, err := j.Forge.Check(ctx, j.repo, c)
	switch {
	case err != nil:
		return j.handleError(ctx, err, p)
	case unsupported != "":
		return j.setState(ctx, store.PostRejected, string(unsupported), p)
	}
	j.d.Checks++
	return j.setState(ctx, store.PostConfirmed, "", p)
}
