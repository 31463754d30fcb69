package post

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// job is one delivery.
type job struct {
	*Poster
	repo   precedent.Repo
	number int
	writer comment.Writer

	posts  []store.Post // of all reviews of the pull request, the oldest first
	stored []precedent.Thread
	review *precedent.Review // the one that speaks; nil if none does
	trust  trust
	seen   sight
	d      Delivery
	failed int // requests so far
}

// errOver ends a delivery in which nothing is left to do: the head has moved, or
// nobody can post any more. It is no error of the delivery.
var errOver = errors.New("there is nothing left to post")

var errNobody = errors.New("deliver posts: nobody knows which account posts, so nothing that stands there could be told from other people's")

// Deliver sends what the newest review of the pull request has to say and has not
// said yet, and what was planned by older ones never. It is safe to call at any
// time, and again after whatever became of an earlier call. Without anything to
// send it only looks for duplicates.
//
// An error is one after which a later call can go on: what was not sent is still
// planned, and Delivery counts it in Left. Errors of the forge are *forge.Error;
// one of KindRate says when.
func (p *Poster) Deliver(ctx context.Context, repo precedent.Repo, number int) (Delivery, error) {
	if p.Me.ID == "" {
		return Delivery{}, errNobody
	}
	j := &job{Poster: p, repo: repo, number: number, writer: p.Writer}
	j.writer.Place = comment.Place{Repo: repo, Number: number}
	err := j.deliver(ctx)
	if errors.Is(err, errOver) {
		err = j.remember(ctx)
	}
	for _, post := range j.posts {
		if !post.State.Done() {
			j.d.Left++
		}
	}
	return j.d, err
}

func (j *job) kept() thread.Kept { return thread.Kept{Rows: j.Rows, Number: j.number} }

func (j *job) deliver(ctx context.Context) error {
	var err error
	if j.posts, err = j.Rows.Posts(ctx, j.number); err != nil {
		return err
	}
	if j.stored, err = j.kept().All(ctx); err != nil {
		return err
	}
	j.whom()
	if err := j.first(ctx); err != nil {
		return err
	}
	if j.review != nil {
		for _, stage := range []func(context.Context) error{j.remarks, j.summary, j.answers, j.check} {
			if err := stage(ctx); err != nil {
				return err
			}
		}
	}
	return j.last(ctx)
}

// first finds out where an earlier delivery ended, and which review speaks.
func (j *job) first(ctx context.Context) error {
	newest := ""
	if n := len(j.posts); n > 0 {
		newest = j.posts[n-1].Review
	}
	lost := false
	if err := j.set(ctx, func(p *store.Post) bool {
		if p.State != store.PostSending && p.State != store.PostUnknown {
			return false
		}
		p.State = store.PostPlanned
		if once(*p) {
			p.State, lost = store.PostUnknown, true
		}
		return true
	}); err != nil {
		return err
	}
	if lost { // whoever sent it may have died a moment ago
		if err := j.Sleep(ctx, listLag); err != nil {
			return err
		}
	}
	if err := j.look(ctx); err != nil {
		return j.gone(ctx, err)
	}
	if err := j.sweep(ctx); err != nil {
		return err
	}
	if err := j.adopt(ctx); err != nil {
		return err
	}
	if err := j.set(ctx, func(p *store.Post) bool {
		if p.State.Done() || p.Review == newest {
			return false
		}
		p.State, p.Why = store.PostSuperseded, "a newer review speaks"
		return true
	}); err != nil {
		return err
	}
	if !j.pending() {
		return nil
	}
	return j.open(ctx, newest)
}

// open reads the review that speaks, and settles what of it is not known.
func (j *job) open(ctx context.Context, id string) error {
	r, err := j.Rows.Review(ctx, id)
	if errors.Is(err, store.ErrNoReview) {
		return j.end(ctx, store.PostSuperseded, "the review is not remembered any more")
	}
	if err != nil {
		return err
	}
	j.d.Review = id
	if err := j.current(ctx, r.Head); err != nil {
		return err
	}
	j.review = r
	if err := j.settle(ctx); err != nil {
		return err
	}
	return j.forgo(ctx)
}

// current reads the pull request again, and ends the delivery if nothing is to be
// said on it any more.
func (j *job) current(ctx context.Context, head string) error {
	pull, err := j.Forge.PullRequest(ctx, j.repo, j.number)
	switch {
	case err != nil:
		return j.gone(ctx, err)
	case pull.Locked:
		j.d.Undeliverable = "the pull request is locked"
		return j.end(ctx, store.PostUndeliverable, j.d.Undeliverable)
	case pull.Head.SHA != head:
		j.d.Superseded = true
		return j.end(ctx, store.PostSuperseded, "the head of the pull request is now "+pull.Head.SHA)
	}
	return nil
}

// gone ends the delivery if an error says that there is nothing to post on.
func (j *job) gone(ctx context.Context, err error) error {
	trouble, ok := errors.AsType[*forge.Error](err)
	if !ok || trouble.Kind != forge.KindClosed && trouble.Kind != forge.KindNotFound {
		return err
	}
	j.d.Undeliverable = trouble.Msg
	return j.end(ctx, store.PostUndeliverable, trouble.Msg)
}

// end gives all that is left its last state.
func (j *job) end(ctx context.Context, state store.PostState, why string) error {
	if err := j.set(ctx, func(p *store.Post) bool {
		if p.State.Done() {
			return false
		}
		p.State, p.Why = state, why
		return true
	}); err != nil {
		return err
	}
	return errOver
}

// forgo drops remarks whose place has a thread already, or had one that a person
// deleted.
func (j *job) forgo(ctx context.Context) error {
	had := map[string]bool{}
	for _, t := range j.stored {
		if t.Comment != "" {
			had[t.Fingerprint] = true
		}
	}
	for _, p := range j.posts {
		if p.Kind == store.PostRemark && p.State == store.PostConfirmed {
			had[payload[remark](p).Fingerprint] = true
		}
	}
	return j.set(ctx, func(p *store.Post) bool {
		if p.Kind != store.PostRemark || p.State.Done() || !had[payload[remark](*p).Fingerprint] {
			return false
		}
		p.State, p.Why = store.PostSuperseded, "it was posted before"
		return true
	})
}

// last looks at what came of it, remembers the threads and sweeps.
func (j *job) last(ctx context.Context) error {
	if j.d.Unsure > 0 {
		if err := j.Sleep(ctx, listLag); err != nil {
			return err
		}
	}
	if j.review == nil {
		return j.remember(ctx)
	}
	if err := j.look(ctx); err != nil {
		return err
	}
	if err := j.sweep(ctx); err != nil {
		return err
	}
	if err := j.adopt(ctx); err != nil {
		return err
	}
	return j.remember(ctx)
}

// set changes posts and saves those that use tells to have changed.
func (j *job) set(ctx context.Context, use func(*store.Post) bool) error {
	var changed []store.Post
	for i := range j.posts {
		if use(&j.posts[i]) {
			changed = append(changed, j.posts[i])
		}
	}
	return j.Rows.SetPosts(ctx, changed...)
}

// pending tells whether something is left to do.
func (j *job) pending() bool {
	return slices.ContainsFunc(j.posts, func(p store.Post) bool { return !p.State.Done() })
}

// left returns the posts of a kind that are still to be sent.
func (j *job) left(kind store.PostKind) []*store.Post {
	var left []*store.Post
	for i := range j.posts {
		p := &j.posts[i]
		if p.Kind == kind && !p.State.Done() {
			left = append(left, p)
		}
	}
	return left
}

// once tells whether a post must not be sent twice: to do the others again
// changes nothing.
func once(p store.Post) bool {
	return p.Kind == store.PostRemark || p.Kind == store.PostReply || p.Kind == store.PostSummary && p.Remote == ""
}

// note says something to a person.
func (j *job) note(format string, args ...any) {
	j.d.Notes = append(j.d.Notes, fmt.Sprintf(format, args...))
}
