package pull

import (
	"context"

	"github.com/precedent-dev/precedent/internal/run"
)

// Hooks follow what Review does. Each may be nil.
type Hooks struct {
	// Existing is called with an earlier review of the head, which makes another one unnecessary.
	Existing func(run.Result) error
	// Run runs a review in place of Prepared.Run.
	Run func(ctx context.Context, p *run.Prepared) (run.Result, error)
	// Posted is called after a new review was posted.
	Posted func(ctx context.Context, p *run.Prepared, made run.Result)
	// Gate is called when everything is fetched. If it is false, nothing is reviewed.
	Gate func(ctx context.Context, x *Prepared) (bool, error)
}

// Review reviews the pull request and posts the review. If the head was reviewed already, it posts
// what is left of that review. The zero Result means that nothing was due.
func (p *Publisher) Review(ctx context.Context, job run.Job, h Hooks) (run.Result, error) {
	existing, found, err := p.existing(ctx, job, false)
	if err != nil {
		return run.Result{}, err
	}
	if found {
		if h.Existing != nil {
			if err := h.Existing(existing.Result); err != nil {
				return run.Result{}, err
			}
		}
		existing.Status, err = p.finish(ctx, existing)
		return existing.Result, err
	}
	x, err := p.Prepare(ctx, job)
	if err != nil {
		return run.Result{}, err
	}
	defer x.Close()
	if h.Gate != nil {
		if goOn, err := h.Gate(ctx, x); err != nil || !goOn {
			return run.Result{}, err
		}
	}
	read := h.Run
	if read == nil {
		read = func(ctx context.Context, p *run.Prepared) (run.Result, error) { return p.Run(ctx, run.Watch{}) }
	}
	made, err := read(ctx, x.Prepared)
	if err != nil {
		return run.Result{}, err
	}
	status, err := p.Deliver(ctx, x, made)
	if err != nil {
		return run.Result{}, err
	}
	if h.Posted != nil {
		h.Posted(ctx, x.Prepared, made)
	}
	made.Status = status
	return made, nil
}
