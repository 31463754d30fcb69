package workflow

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/settings"
)

// Watch holds callbacks for the progress of a run.
type Watch struct {
	// Planned is called with the estimate before the first request to the engine. It
	// may be nil.
	Planned func(review.Estimate)
	// Progress is called with events, from several goroutines. It may be nil.
	Progress func(review.Event)
}

// Result is a completed review.
type Result struct {
	Review *precedent.Review
	// Style is what a report needs in addition to the review; the caller sets width
	// and colours.
	Style report.Style
	// Status is the exit status: precedent.ExitClean, ExitFindings or ExitIncomplete.
	Status int
}

// Run runs the review and saves it, with its planned posts. If it cannot be saved,
// it is returned anyway, unless posts are planned.
func (p *Prepared) Run(ctx context.Context, w Watch) (Result, error) {
	r, err := p.read(ctx, w)
	if err != nil {
		return Result{}, err
	}
	in := p.Input
	if p.recheck != nil { // what is planned is final
		p.recheck(ctx, r)
	}
	if err := p.save(ctx, r); err != nil {
		return Result{}, err
	}
	return Result{
		Review: r,
		Style:  report.Style{Engine: p.Engine, NoEngine: in.Engine == nil, Remembered: shownBefore(in.Recall), Change: in.Change, FailOn: p.settings.FailOn.Value, Precedents: in.Policy.Precedents, NoHint: p.settings.Engine.Source.By != settings.Default},
		Status: r.ExitStatus(p.settings.FailOn.Value),
	}, nil
}

// read runs the review.
func (p *Prepared) read(ctx context.Context, w Watch) (*precedent.Review, error) {
	in := p.Input
	in.Planned, in.Progress = w.Planned, w.Progress
	r, err := review.Run(ctx, in)
	if err != nil {
		return nil, &Error{Err: err, Status: precedent.ExitIncomplete}
	}
	r.PullRequest, r.Gate = p.number, p.gate
	if p.answers != nil {
		_, failures := p.answers.Done(ctx)
		r.Failures = append(r.Failures, failures...)
	}
	return r, nil
}

func (p *Prepared) save(ctx context.Context, r *precedent.Review) error {
	posts := p.plan(r)
	if err := p.workspace.Memory.Record(ctx, r, posts...); err != nil {
		if ctx.Err() != nil || len(posts) > 0 {
			return err // what is not saved is not posted: a crash would post it twice
		}
		r.Failures = append(r.Failures, precedent.Failure{Step: "memory", Error: err.Error() + "; this review is not stored"})
		p.reviewer.notice(ctx, "%v; this review is not stored", err)
		return nil
	}
	if err := p.workspace.Memory.CountLearnings(ctx, r); err != nil {
		p.reviewer.notice(ctx, "%v", err)
	}
	if err := p.dropAnswers(ctx, r); err != nil {
		p.reviewer.notice(ctx, "%v", err)
	}
	return nil
}

// shownBefore counts the findings of the touched files that reviews showed,
// those of this very change included.
func shownBefore(r memory.Recall) int {
	n := 0
	for _, k := range r.Known {
		if k.Seen > 0 {
			n++
		}
	}
	return n
}
