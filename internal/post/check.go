package post

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// checkName is what the check is called in the rules of a repository.
const checkName = "precedent"

// check says on the commit how the review ended.
func (j *job) check(ctx context.Context) error {
	for _, p := range j.left(store.PostCheck) {
		if err := j.spare(ctx, p, j.checkOnce); err != nil {
			return err
		}
	}
	return nil
}

// checkOnce sends the check. The forge replaces one that it knows of; after an
// attempt of which nobody heard it is given the time to know.
func (j *job) checkOnce(ctx context.Context, p *store.Post) error {
	if p.Attempts > 0 {
		if err := j.Sleep(ctx, looks*listLag); err != nil {
			return err
		}
	}
	page, err := j.page()
	if err != nil {
		return err
	}
	result := resultOf(j.review, payload[ending](*p).FailOn)
	c := forge.Check{
		Name: checkName, Commit: j.review.Head, Review: j.review.ID, Result: result,
		Title: title(j.review), Body: j.writer.Safe(page), URL: j.d.URL,
	}
	if err := j.begin(ctx, p); err != nil {
		return err
	}
	unsupported, err := j.Forge.Check(ctx, j.repo, c)
	switch {
	case err != nil:
		return j.trouble(ctx, err, p)
	case unsupported != "":
		return j.finish(ctx, store.PostRejected, string(unsupported), p)
	}
	j.d.Posted++
	return j.finish(ctx, store.PostConfirmed, "", p)
}

// resultOf is the end of a review for a check. Only one that read everything with
// a model, and found nothing that blocks, is a success.
func resultOf(r *precedent.Review, failOn precedent.Severity) forge.CheckResult {
	switch {
	case r.ExitStatus(failOn) == precedent.ExitFindings:
		return forge.Failure
	case r.ExitStatus(failOn) == precedent.ExitIncomplete, r.Scope == precedent.AnalyzersScope:
		return forge.Neutral
	case r.Verdict == precedent.Clean, r.Verdict == precedent.Findings:
		return forge.Success
	}
	return forge.Neutral
}

// title is a review's end in one line.
func title(r *precedent.Review) string {
	found := "no findings"
	if n := len(r.Live()); n == 1 {
		found = "1 finding"
	} else if n > 1 {
		found = fmt.Sprintf("%d findings", n)
	}
	switch r.Verdict {
	case precedent.Partial:
		return "Partial, not everything was read: " + found
	case precedent.Failed:
		return "Failed, no model read the change: " + found
	case precedent.Skipped:
		return "There was nothing to review"
	}
	return found
}
