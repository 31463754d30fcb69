package post

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
)

// markSending saves that the posts are being sent. It must come before the request.
func (j *job) markSending(ctx context.Context, posts ...*store.Post) error {
	for _, p := range posts {
		p.State = store.PostSending
		p.Attempts++
	}
	return j.save(ctx, posts...)
}

func (j *job) save(ctx context.Context, posts ...*store.Post) error {
	values := make([]store.Post, len(posts))
	for i, p := range posts {
		values[i] = *p
	}
	return j.Rows.SetPosts(ctx, values...)
}

func (j *job) setState(ctx context.Context, state store.PostState, why string, posts ...*store.Post) error {
	for _, p := range posts {
		p.State, p.Why = state, why
	}
	return j.save(ctx, posts...)
}

// concernsAll tells whether an error is about every request of the delivery, so that the delivery
// ends with it: of the rate limit, or of a lease that was lost.
func concernsAll(e *forge.Error) bool {
	return e.Kind == forge.KindRate || e.Kind == forge.KindFenced
}

// handleError decides what an error of the request means for the posts it sent. It returns nil
// if the delivery can go on; the posts then have a new state.
func (j *job) handleError(ctx context.Context, err error, posts ...*store.Post) error {
	forgeErr, ok := errors.AsType[*forge.Error](err)
	if !ok || ctx.Err() != nil {
		return err // the posts stay in the state sending, and the next delivery looks for them
	}
	switch {
	case forgeErr.Unsure && sendOnce(*posts[0]):
		if err := j.setState(ctx, store.PostUnknown, forgeErr.Msg, posts...); err != nil {
			return err
		}
		if j.failed++; j.failed >= maxTries {
			return err
		}
		return j.resolveUnknown(ctx)
	case forgeErr.Kind == forge.KindInvalid, forgeErr.Kind == forge.KindRefused, forgeErr.Kind == forge.KindTooLarge:
		if posts[0].Kind == store.PostRemark {
			j.d.Rejected += len(posts)
			j.note("the forge rejected the review, so its findings are in the summary: %s; %s", forgeErr.Msg, forgeErr.Hint)
		}
		if posts[0].Kind == store.PostSummary {
			j.d.Unposted = forgeErr.Msg
		}
		return j.setState(ctx, store.PostRejected, forgeErr.Msg, posts...)
	case forgeErr.Kind == forge.KindClosed, forgeErr.Kind == forge.KindNotFound && sendOnce(*posts[0]):
		return j.endIfClosed(ctx, err)
	}
	if err := j.setState(ctx, store.PostPlanned, forgeErr.Msg, posts...); err != nil {
		return err
	}
	switch forgeErr.Kind {
	case forge.KindRate, forge.KindServer, forge.KindNetwork, forge.KindAnswer:
	default:
		return err
	}
	return j.pause(ctx, forgeErr)
}

// pause waits before the next request, unless the wait is too long.
func (j *job) pause(ctx context.Context, forgeErr *forge.Error) error {
	if j.failed++; j.failed >= maxTries {
		return forgeErr
	}
	wait := time.Duration(0)
	if now := j.Now(); forgeErr.Retry.After(now) {
		wait = forgeErr.Retry.Sub(now)
	}
	if wait > maxWait {
		return forgeErr
	}
	return j.Sleep(ctx, wait+j.Rand(firstPause<<min(j.failed, 5)))
}

// resolveUnknown looks for posts whose state is unknown. What the forge does not show after
// several looks is planned again.
func (j *job) resolveUnknown(ctx context.Context) error {
	if err := j.waitForPosts(ctx, j.hasUnknown); err != nil {
		return err
	}
	if j.hasUnknown() && j.state.truncated {
		return &forge.Error{
			Kind: forge.KindTooLarge, Msg: "cannot tell whether it was posted: the forge does not return all comments",
			Hint: "check the pull request yourself",
		}
	}
	return j.updatePosts(ctx, func(p *store.Post) bool {
		if p.State != store.PostUnknown {
			return false
		}
		p.State = store.PostPlanned
		j.d.Unsure++
		return true
	})
}

// waitForPosts reads the forge several times, while posts are missing.
func (j *job) waitForPosts(ctx context.Context, missing func() bool) error {
	for n := range maxLooks {
		if !missing() {
			return nil
		}
		if err := j.Sleep(ctx, listLag+j.Rand(listLag<<n)); err != nil {
			return err
		}
		if err := j.look(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hasUnnumbered tells whether a remark was posted and its id is not known.
func (j *job) hasUnnumbered() bool {
	return slices.ContainsFunc(j.posts, func(p store.Post) bool {
		return p.Kind == store.PostRemark && p.Review == j.review.ID && p.State == store.PostConfirmed && p.Remote == ""
	})
}

// hasUnknown tells whether the state of a post is unknown.
func (j *job) hasUnknown() bool {
	return slices.ContainsFunc(j.posts, func(p store.Post) bool { return p.State == store.PostUnknown })
}
