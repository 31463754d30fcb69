package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

// job is one delivery.
type job struct {
	*Poster
	repo   precedent.Repo
	number int
	writer comment.Writer

	posts  []store.Post // of all reviews of the pull request, oldest first
	stored []precedent.Thread
	review *precedent.Review // the one to post; nil if there is none
	state  forgeState
	d      Delivery
	failed int      // requests so far
	run    string   // id of this delivery
	turn   bool     // it has the turn in the store
	died   []string // runs that had the turn before and died with their replicas
	claim  claim
	// blocking is our review that requests changes and should not any more.
	blocking report.Blocking
	told     map[string]bool // reasons that are in the notes
	// impatient tells that this run waited long enough for claims that prove nothing.
	impatient bool
}

// errSuperseded ends a delivery that has nothing left to do: the head has moved, or posting is
// not possible any more. The delivery has not failed.
var errSuperseded = errors.New("there is nothing left to post")

var errUnknownAccount = errors.New("deliver posts: the account that posts is unknown, so its comments cannot be " +
	"told from other people's")

// Deliver sends the unsent posts of the newest review of the pull request. Posts of older
// reviews are never sent. It is safe to call at any time, and again after a call that failed.
// With nothing to send it only looks for duplicates.
//
// After an error a later call can go on: what was not sent is still planned, and Delivery
// counts it in Left. Errors of the forge are *forge.Error; one of KindRate says when to retry.
func (p *Poster) Deliver(ctx context.Context, repo precedent.Repo, number int) (Delivery, error) {
	j, err := p.newJob(repo, number)
	if err != nil {
		return Delivery{}, err
	}
	err = j.deliver(ctx)
	ended := errors.Is(err, errSuperseded)
	j.release(ctx, ended)
	if ended {
		err = j.remember(ctx)
	}
	return j.ended(err)
}

func (p *Poster) newJob(repo precedent.Repo, number int) (*job, error) {
	if p.Me.ID == "" {
		return nil, errUnknownAccount
	}
	j := &job{Poster: p, repo: repo, number: number, writer: p.Writer, run: p.NewID(), told: map[string]bool{}}
	j.writer.LineURL = p.Style.LineURL
	j.writer.PullRequest.Repo, j.writer.PullRequest.Number = repo, number
	return j, nil
}

// ended returns the result of the delivery. That another run posts is not an error.
func (j *job) ended(err error) (Delivery, error) {
	if errors.Is(err, errBusy) || errors.Is(err, errOutrun) {
		j.d.OtherRun, err = true, nil
	}
	for _, post := range j.posts {
		if !post.State.Done() {
			j.d.Left++
		}
	}
	return j.d, err
}

// deliver posts as the only run, and starts again if another run has taken over meanwhile.
func (j *job) deliver(ctx context.Context) error {
	err := j.load(ctx, j.Rows.Posts)
	if err != nil {
		return err
	}
	if !j.pending() {
		return j.deliverOnce(ctx)
	}
	for range maxTurns {
		if err = j.takeTurn(ctx); err != nil {
			return err
		}
		if err = j.load(ctx, j.Rows.Posts); err != nil { // another run may have changed it
			return err
		}
		if err = j.deliverOnce(ctx); !errors.Is(err, errOutrun) {
			return err
		}
	}
	return err
}

// load reads what is stored about the pull request, with the posts of a kind.
func (j *job) load(ctx context.Context, posts func(context.Context, int) ([]store.Post, error)) (err error) {
	j.review = nil
	if j.posts, err = posts(ctx, j.number); err != nil {
		return err
	}
	j.stored, err = j.Rows.Threads(ctx, j.number)
	return err
}

func (j *job) deliverOnce(ctx context.Context) error {
	if err := j.resume(ctx); err != nil {
		return err
	}
	if j.review != nil {
		if err := inOrder(ctx, j.postRemarks, j.postAnswers, j.postSummary, j.postChecks); err != nil {
			return err
		}
	}
	return j.wrapUp(ctx)
}

// inOrder takes steps until one fails.
func inOrder(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// resume determines where an earlier delivery ended, and which review to post.
func (j *job) resume(ctx context.Context) error {
	newest := ""
	if n := len(j.posts); n > 0 {
		newest = j.posts[n-1].Review
	}
	if err := j.awaitLost(ctx); err != nil {
		return err
	}
	if err := j.readForge(ctx); err != nil {
		return j.endIfClosed(ctx, err)
	}
	if err := inOrder(ctx, j.sweep, j.adopt); err != nil {
		return err
	}
	if err := j.end(ctx, store.PostSuperseded, "superseded by a newer review",
		func(p store.Post) bool { return p.Review != newest }); err != nil {
		return err
	}
	if !j.pending() {
		return nil
	}
	return j.openReview(ctx, newest)
}

// awaitLost finds posts of which an earlier delivery did not know whether they arrived. If any of them must
// not be sent twice, it waits until the forge lists it: the process that sent it may have died a moment ago.
func (j *job) awaitLost(ctx context.Context) error {
	lost := false
	err := j.updatePosts(ctx, func(p *store.Post) bool {
		if p.State != store.PostSending && p.State != store.PostUnknown {
			return false
		}
		p.State = store.PostPlanned
		if sendOnce(*p) {
			p.State, lost = store.PostUnknown, true
		}
		return true
	})
	if err != nil || !lost {
		return err
	}
	return j.Sleep(ctx, listLag)
}

// openReview reads the review to post, resolves posts whose state is unknown, and makes this
// run the only one that posts.
func (j *job) openReview(ctx context.Context, id string) error {
	r, err := j.Rows.Review(ctx, id)
	if errors.Is(err, store.ErrNoReview) {
		return j.endAll(ctx, store.PostSuperseded, "the review is no longer stored")
	}
	if err != nil {
		return err
	}
	j.review = r
	j.writer.Precedents = j.options().Precedents
	if err := j.checkHead(ctx, r.Head); err != nil {
		return err
	}
	if j.Recheck != nil {
		j.Recheck(ctx, r)
	}
	return inOrder(ctx, j.resolveUnknown, j.claimPull, j.dropAnswered, j.dropPosted)
}

// checkHead reads the pull request again, and ends the delivery if the head has moved or
// posting is not possible any more.
func (j *job) checkHead(ctx context.Context, head string) error {
	pull, err := j.Forge.PullRequest(ctx, j.repo, j.number)
	switch {
	case err != nil:
		return j.endIfClosed(ctx, err)
	case pull.Locked:
		j.d.Undeliverable = "the pull request is locked"
		return j.endAll(ctx, store.PostUndeliverable, j.d.Undeliverable)
	case pull.Head.SHA != head:
		j.d.Superseded = true
		j.addSpending(ctx)
		return j.endAll(ctx, store.PostSuperseded, "the head of the pull request is now "+pull.Head.SHA)
	}
	return nil
}

// endIfClosed ends the delivery if the error means that posting is not possible any more.
func (j *job) endIfClosed(ctx context.Context, err error) error {
	forgeErr, ok := errors.AsType[*forge.Error](err)
	if !ok || forgeErr.Kind != forge.KindClosed && forgeErr.Kind != forge.KindNotFound {
		return err
	}
	j.d.Undeliverable = forgeErr.Msg
	return j.endAll(ctx, store.PostUndeliverable, forgeErr.Msg)
}

// endAll sets the final state of all remaining posts.
func (j *job) endAll(ctx context.Context, state store.PostState, why string) error {
	return cmp.Or(j.end(ctx, state, why, func(store.Post) bool { return true }), errSuperseded)
}

// end sets the final state of the remaining posts that match.
func (j *job) end(ctx context.Context, state store.PostState, why string, match func(store.Post) bool) error {
	return j.updatePosts(ctx, func(p *store.Post) bool {
		if p.State.Done() || !match(*p) {
			return false
		}
		p.State, p.Why = state, why
		return true
	})
}

// dropPosted drops remarks whose place already has a thread, or had one that a person deleted.
func (j *job) dropPosted(ctx context.Context) error {
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
	return j.end(ctx, store.PostSuperseded, "it was posted before", func(p store.Post) bool {
		return p.Kind == store.PostRemark && had[payload[remark](p).Fingerprint]
	})
}

// wrapUp checks the result on the forge, stores the threads and deletes duplicates.
func (j *job) wrapUp(ctx context.Context) error {
	if j.d.Unsure > 0 || j.claim.waited {
		if err := j.Sleep(ctx, listLag); err != nil {
			return err
		}
	}
	if j.review == nil {
		return j.remember(ctx)
	}
	return inOrder(ctx, j.readForge, j.sweep, j.sweepUnknown, j.adopt, j.remember)
}

// updatePosts calls update for each post, and saves those for which it returns true.
func (j *job) updatePosts(ctx context.Context, update func(*store.Post) bool) error {
	var changed []store.Post
	for i := range j.posts {
		if update(&j.posts[i]) {
			changed = append(changed, j.posts[i])
		}
	}
	return j.Rows.SetPosts(ctx, changed...)
}

// pending tells whether posts remain to be sent.
func (j *job) pending() bool {
	return slices.ContainsFunc(j.posts, func(p store.Post) bool { return !p.State.Done() })
}

// unsent returns the posts of a kind that are still to be sent.
func (j *job) unsent(kind store.PostKind) []*store.Post {
	var posts []*store.Post
	for i := range j.posts {
		p := &j.posts[i]
		if p.Kind == kind && !p.State.Done() {
			posts = append(posts, p)
		}
	}
	return posts
}

// sendOnce tells whether a post must not be sent twice. Repeating the others changes nothing.
func sendOnce(p store.Post) bool {
	return p.Kind == store.PostRemark || p.Kind == store.PostReply || p.Kind == store.PostAnswer ||
		p.Kind == store.PostSummary && p.Remote == ""
}

// note adds a note for people.
func (j *job) note(format string, args ...any) {
	j.d.Notes = append(j.d.Notes, fmt.Sprintf(format, args...))
}
