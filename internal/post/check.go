package post

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

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
	end := OptionsOf(*p)
	result, title := report.Check(j.review, end.FailOn, end.PassWithoutModel)
	c := forge.Check{
		Name: forge.CheckName, Commit: j.review.Head, Review: j.review.ID, Result: forge.CheckResult(result),
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

// takeRequestsBack dismisses our reviews that still request changes, although the check is
// green now: the forge keeps such a request until it is dismissed.
func (j *job) takeRequestsBack(ctx context.Context, failOn precedent.Severity) error {
	for i := range j.state.own {
		o := &j.state.own[i]
		if !o.Blocks || o.Marker.Kind != comment.Review {
			continue
		}
		why := fmt.Sprintf("Nothing at or above %s is left at %.12s.", failOn, j.review.Head)
		unsupported, err := j.Forge.Dismiss(ctx, j.repo, j.number, o.ID, why)
		if e, ok := errors.AsType[*forge.Error](err); ok && (e.Kind == forge.KindInvalid || e.Kind == forge.KindRefused) {
			unsupported, err = forge.Unsupported(e.Msg), nil
		}
		if err != nil {
			return err
		}
		if unsupported != "" {
			j.note("a request for changes is left: %s", unsupported)
			j.blocking = report.Blocking{Left: true, URL: o.URL}
		}
		o.Blocks = false
	}
	return nil
}
