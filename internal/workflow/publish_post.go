package workflow

import (
	"context"

	"github.com/precedent-dev/precedent/internal/post"
)

// PostHooks follow what Post does. Each may be nil.
type PostHooks struct {
	// Conversed is called after comments were answered. Its error is said, and ends nothing.
	Conversed func(Conversation) error
	// Existing is called with an earlier review of the head, which makes another one unnecessary.
	Existing func(Result) error
	// Run runs a review in place of Prepared.Run.
	Run func(ctx context.Context, p *Prepared) (Result, error)
	// Posted is called after a new review was posted.
	Posted func(ctx context.Context, p *Prepared, made Result)

	// gate is called when everything is fetched. If it is false, nothing is reviewed.
	gate func(ctx context.Context, x *PreparedPull) (bool, error)
}

// Posting is what Post did. The zero value means that nothing was due.
type Posting struct {
	Result
	// Delivery is what was posted of the review.
	Delivery post.Delivery
	// Reviewed tells that the head has a review: this one, or the earlier one.
	Reviewed bool
}

// Post answers the comments on the pull request, reviews it, and posts the review. One that is
// paused is not reviewed, nor is one whose comments alone are asked about, unless they ask for
// it. If the head was reviewed already, it posts what is left of that review.
func (p *Publisher) Post(ctx context.Context, job Job, onlyComments bool, h PostHooks) (Posting, error) {
	did, all, err := p.converse(ctx, job, h)
	switch {
	case err != nil:
		return Posting{}, err
	case did.Paused, onlyComments && all && !did.Review:
		return Posting{}, nil
	}
	job.Again = job.Again || did.Again
	return p.Review(ctx, job, h)
}

// converse is Converse for a review, which goes on without the answers that failed: then it is
// false.
func (p *Publisher) converse(ctx context.Context, job Job, h PostHooks) (did Conversation, all bool, err error) {
	did, err = p.Converse(ctx, job, "")
	if err == nil && h.Conversed != nil {
		err = h.Conversed(did)
	}
	if ctx.Err() != nil {
		return did, false, ctx.Err()
	}
	if err != nil { // the review counts more
		p.pull.reviewer.notice(ctx, "%v; not all comments were answered", err)
	}
	if did.Paused {
		p.pull.reviewer.notice(ctx, "%s paused the reviews of #%d: nothing was reviewed; to go on, comment: @precedent resume", did.PausedBy, p.pull.Number)
	}
	return did, err == nil, nil
}

// Review reviews the pull request and posts the review. If the head was reviewed already, it posts
// what is left of that review.
func (p *Publisher) Review(ctx context.Context, job Job, h PostHooks) (Posting, error) {
	existing, found, err := p.Existing(ctx, job)
	if err != nil {
		return Posting{}, err
	}
	if found {
		if h.Existing != nil {
			if err := h.Existing(existing.Result); err != nil {
				return Posting{}, err
			}
		}
		status, err := p.Finish(ctx, existing)
		existing.Status = status
		return Posting{Result: existing.Result, Delivery: p.delivered, Reviewed: true}, err
	}
	x, err := p.Prepare(ctx, job)
	if err != nil {
		return Posting{}, err
	}
	defer x.Close()
	if h.gate != nil {
		if goOn, err := h.gate(ctx, x); err != nil || !goOn {
			return Posting{}, err
		}
	}
	run := h.Run
	if run == nil {
		run = func(ctx context.Context, p *Prepared) (Result, error) { return p.Run(ctx, Watch{}) }
	}
	made, err := run(ctx, x.Prepared)
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
	return Posting{Result: made, Delivery: p.delivered, Reviewed: true}, nil
}
