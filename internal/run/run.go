package run

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Watch holds callbacks for the progress of a run.
type Watch struct {
	// Planned is called with the estimate before the first request to the engine. It may be nil.
	Planned func(review.Estimate)
	// Progress is called with events, from several goroutines. It may be nil.
	Progress func(review.Event)
}

// Result is a completed review.
type Result struct {
	Review *precedent.Review
	// Style is what a report needs in addition to the review; the caller sets width and colours.
	Style report.Style
	// Status is the exit status: precedent.ExitClean, ExitFindings or ExitIncomplete.
	Status int
}

// Run runs the review and saves it, with its planned posts. If it cannot be saved,
// it is returned anyway, unless posts are planned.
func (p *Prepared) Run(ctx context.Context, w Watch) (Result, error) {
	r, err := p.Read(ctx, w)
	if err != nil {
		return Result{}, err
	}
	in := p.Input
	if p.Recheck != nil { // what is planned is final
		p.Recheck(ctx, r)
	}
	stored, err := p.save(ctx, r)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Review: r,
		Style: report.Style{
			Engine: p.Engine, NoEngine: in.Engine == nil, Remembered: shownBefore(in.Recall),
			Change: in.Change, FailOn: p.settings.FailOn.Value, Precedents: in.Policy.Precedents,
			Options: p.workspace.Options(), Unstored: !stored, NoHint: p.settings.Engine.Source.By != settings.Default,
		},
		Status: r.ExitStatus(p.settings.FailOn.Value),
	}, nil
}

// Read runs the review.
func (p *Prepared) Read(ctx context.Context, w Watch) (*precedent.Review, error) {
	in := p.Input
	in.Planned, in.Progress = w.Planned, w.Progress
	r, err := review.Run(ctx, in)
	if err != nil {
		return nil, &workspace.Error{Err: err, Status: precedent.ExitIncomplete}
	}
	r.PullRequest, r.Gate = p.Number, p.Gate
	if p.answers != nil {
		_, failures := p.answers.Done()
		r.Failures = append(r.Failures, failures...)
	}
	return r, nil
}

// save stores a review with its planned posts, and reports whether later commands find it in the memory.
func (p *Prepared) save(ctx context.Context, r *precedent.Review) (stored bool, err error) {
	posts := p.Plan(r)
	if err := p.workspace.Memory.Rows.SaveReview(ctx, r, posts...); err != nil {
		if ctx.Err() != nil || len(posts) > 0 {
			return false, err // what is not saved is not posted: a crash would post it twice
		}
		r.Failures = append(r.Failures, precedent.Failure{Step: "memory", Error: err.Error() + "; this review is not stored"})
		p.reviewer.Notice(ctx, "%v; this review is not stored", err)
		return false, nil
	}
	err = p.workspace.Memory.CountLearnings(ctx, r)
	if err == nil && p.Number == nil {
		err = p.reviewer.CountOwnLearnings(ctx, p.workspace, r)
	}
	if err != nil {
		p.reviewer.Notice(ctx, "%v", err)
	}
	if err := p.dropAnswers(ctx, r); err != nil {
		p.reviewer.Notice(ctx, "%v", err)
	}
	return p.workspace.Memory.DB.Kept(), nil
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

// Job says how a change is reviewed.
type Job struct {
	Settings *settings.Settings
	Engine   workspace.EngineSetup
	// Resume continues from the answers that an unfinished review of the same change paid for.
	Resume bool
	// Again reads everything, also what an earlier review has read.
	Again bool
	// AskFix has a fix round of the pull request made, because a person with write permission asked for
	// one. comment identifies what the person wrote: asked twice for the same, it is made once. Nil
	// where comments cannot ask for it.
	AskFix func(ctx context.Context, comment string) error
	// Paths are the only files and folders to review, relative to the working folder; all
	// if empty. They are for local changes.
	Paths []string
}

// Workspace returns the repository and its memory.
func (p *Prepared) Workspace() *workspace.Workspace { return p.workspace }
