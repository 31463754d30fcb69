package pull

import (
	"context"

	"github.com/precedent-dev/precedent/internal/post"
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

// Posting is what Review did. The zero value means that nothing was due.
type Posting struct {
	run.Result
	// Delivery is what was posted of the review.
	Delivery post.Delivery
	// Reviewed tells that the head has a review: this one, or the earlier one.
	Reviewed bool
}

// Review reviews the pull request and posts the review. If the head was reviewed already, it posts
// what is left of that review.
func (p *Publisher) Review(ctx context.Context, job run.Job, h Hooks) (Posting, error) {
	existing, found, err := p.existing(ctx, job, false)
	if err != nil {
		return Posting{}, err
	}
	if found {
		if h.Existing != nil {
			if err := h.Existing(existing.Result); err != nil {
				return Posting{}, err
			}
		}
		status, err := p.finish(ctx, existing)
		existing.Status = status
		return Posting{Result: existing.Result, Delivery: p.Delivered, Reviewed: true}, err
	}
	x, err := p.Prepare(ctx, job)
	if err != nil {
		return Posting{}, err
	}
	defer x.Close()
	if h.Gate != nil {
		if goOn, err := h.Gate(ctx, x); err != nil || !goOn {
			return Posting{}, err
		}
	}
	read := h.Run
	if read == nil {
		read = func(ctx context.Context, p *run.Prepared) (run.Result, error) { return p.Run(ctx, run.Watch{}) }
	}
	made, err := read(ctx, x.Prepared)
	if err != nil {
		return Posting{}, err
	}
	status, err := p.Deliver(ctx, x, made)
	if err != nil {
		return Posting{}, err
	}
	if h.Posted != nil {
		h.Posted(ctx, x.Prepared, made)
	}
	made.Status = status
	return Posting{Result: made, Delivery: p.Delivered, Reviewed: true}, nil
}
