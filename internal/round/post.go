package round

import (
	"context"

	"github.com/precedent-dev/precedent/internal/converse"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/run"
)

// Post answers the comments on the pull request, reviews it, and posts the review. One that is
// paused is not reviewed, nor is one whose comments alone are asked about, unless they ask for
// it. If the head was reviewed already, it posts what is left of that review.
func Post(ctx context.Context, p *pull.Publisher, job run.Job, onlyComments bool, conversed func(converse.Result) error,
	h pull.Hooks,
) (run.Result, error) {
	did, all, err := answer(ctx, p, job, conversed)
	switch {
	case err != nil:
		return run.Result{}, err
	case did.Paused, onlyComments && all && !did.Review:
		return run.Result{}, nil
	}
	job.Again = job.Again || did.Again
	return p.Review(ctx, job, h)
}

// answer is converse.Answer for a review, which goes on without the answers that failed: then it is false.
func answer(ctx context.Context, p *pull.Publisher, job run.Job,
	conversed func(converse.Result) error,
) (did converse.Result, all bool, err error) {
	did, err = converse.Answer(ctx, p, job, "")
	if err == nil && conversed != nil {
		err = conversed(did)
	}
	if ctx.Err() != nil {
		return did, false, ctx.Err()
	}
	if err != nil { // the review counts more
		p.Pull.Env.Notice(ctx, "%v; not all comments were answered", err)
	}
	if did.Paused {
		p.Pull.Env.Notice(ctx, "%s paused the reviews of #%d: nothing was reviewed; to go on, comment: @precedent resume",
			did.PausedBy, p.Pull.Number)
	}
	return did, err == nil, nil
}
