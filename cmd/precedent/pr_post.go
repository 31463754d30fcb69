package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
)

// markerKeyVariable holds what signs our comments.
const markerKeyVariable = "PRECEDENT_MARKER_KEY"

// ownSecrets are the variables whose values never leave in a comment, beside what
// the forge is asked with: models read what may hold them.
var ownSecrets = append([]string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"}, tokens...)

// writer writes and reads our comments on one pull request.
func (a *app) writer(st *station, repo precedent.Repo, number int) (comment.Writer, error) {
	w := comment.Writer{
		Place: comment.Place{Repo: repo, Number: number}, Links: []string{st.Host()}, Own: st.secrets, Version: thisBuild().Version,
	}
	for _, name := range ownSecrets {
		if v := strings.TrimSpace(a.env[name]); v != "" {
			w.Own = append(w.Own, v)
		}
	}
	secret := a.env[markerKeyVariable]
	if secret == "" && st.key != "" {
		// An App's key is known to nobody else and stays: good for another one.
		mac := hmac.New(sha256.New, []byte(st.key))
		mac.Write([]byte("precedent marker"))
		secret = hex.EncodeToString(mac.Sum(nil))
	}
	if secret == "" {
		return w, nil
	}
	w.Own = append(w.Own, secret)
	var err error
	if w.Key, err = comment.NewKey(secret); err != nil {
		return w, hinted(fmt.Errorf("%s: %w", markerKeyVariable, err), "make one with: openssl rand -hex 32")
	}
	return w, nil
}

// publication posts a review of one pull request. Nil posts nothing.
type publication struct {
	app     *app
	station *station
	desk    *desk
	number  int
	writer  comment.Writer
	pull    *pull // as it was fetched; nil before
	poster  *post.Poster
	// cloneURL is where git fetches the base from: its page without the end.
	cloneURL string
}

// open makes the poster.
func (p *publication) open(ctx context.Context) error {
	if p.poster != nil {
		return nil
	}
	me, err := p.station.Me(ctx)
	if err != nil {
		return p.station.fault(err)
	}
	rows, err := p.desk.rows(ctx)
	if err != nil {
		return err
	}
	// An App's token is made on the way. Whatever is wrong with that, requests tell.
	if secret, err := p.station.token(ctx, p.desk.named); err == nil && secret != "" {
		p.writer.Own = append(slices.Clip(p.writer.Own), secret)
	}
	p.poster = &post.Poster{
		Forge: p.station, Rows: rows, Writer: p.writer, Me: me, Now: p.app.now, Sleep: p.app.pause, Rand: rand.N[time.Duration], NewID: newID,
	}
	return nil
}

// finish delivers what an earlier run planned for the head that the pull request
// has, and tells whether nothing is left to do: a complete review stands there. One
// of a change to another base is none, nor one without an engine if there is one now.
func (p *publication) finish(ctx context.Context, o reviewOptions, engine bool) (bool, error) {
	// It comes first: an App has no token before it knows for which repository.
	pr, err := p.station.PullRequest(ctx, p.desk.named, p.number)
	if err != nil {
		return false, p.station.fault(err)
	}
	p.cloneURL = pr.Base.CloneURL
	if err := p.open(ctx); err != nil {
		return false, err
	}
	last, found, err := p.poster.Rows.LastReview(ctx, p.number)
	if err != nil || !found || last.Head != pr.Head.SHA || last.Target.Base != pr.Base.Name || o.again {
		return false, err
	}
	if engine && review.Unread(last) {
		return false, nil
	}
	posts, err := p.poster.Rows.Posts(ctx, p.number)
	if err != nil {
		return false, err
	}
	left, stands := false, false
	for _, q := range posts {
		if q.Review == last.ID {
			left = left || !q.State.Done()
			stands = stands || q.Kind == store.PostSummary && q.State == store.PostConfirmed
		}
	}
	complete := last.Verdict != precedent.Partial && last.Verdict != precedent.Failed
	switch {
	case left:
		p.app.notice("going on with posting review %s of %s", last.ID, short(last.Head))
	case !complete, !stands && !pr.Locked:
		return false, nil
	case !stands:
		p.app.notice("nothing can be posted on #%d: the pull request is locked; --again reviews it again", p.number)
	default:
		p.app.notice("review %s stands at %s already; --again makes another", last.ID, short(last.Head))
	}
	style := report.Style{NoEngine: last.Scope == precedent.AnalyzersScope}
	if err := p.app.print(o.format, last, style); err != nil {
		return true, err
	}
	status := last.ExitStatus(p.desk.op.FailOn.Value)
	if !left && !stands {
		return true, statusOf(undelivered(status))
	}
	return true, p.deliver(ctx, last, style, status)
}

// undelivered is the exit status of a review that nobody can post: as if all was
// well is not how it ends.
func undelivered(status int) int {
	if status == precedent.ExitClean {
		return precedent.ExitIncomplete
	}
	return status
}

// plan is what the review has to say; nothing for one that is not posted.
func (p *publication) plan(r *precedent.Review, policy precedent.Policy, failOn precedent.Severity) []store.Post {
	if p == nil {
		return nil
	}
	return p.poster.Plan(r, p.pull.history.threads, post.Options{FailOn: failOn, RequestChanges: policy.RequestChanges})
}

// deliver posts what was planned, and ends with the review's exit status, or as
// incomplete if not everything could be posted.
func (p *publication) deliver(ctx context.Context, r *precedent.Review, style report.Style, status int) error {
	if p == nil {
		return statusOf(status)
	}
	a := p.app
	p.poster.Style = style
	p.poster.Style.Version, p.poster.Style.Links = thisBuild().Version, p.writer.Links
	p.poster.Style.LineURL = p.lineURL(r, style.Change)
	if err := p.settle(ctx, r); err != nil {
		return err
	}
	d, err := p.poster.Deliver(ctx, p.desk.named, p.number)
	if ctx.Err() == nil {
		if err := p.learn(ctx, r); err != nil && ctx.Err() == nil {
			a.notice("%v; what became of earlier findings is not remembered", err)
		}
	}
	for _, note := range d.Notes {
		a.notice("%s", note)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		err = p.station.fault(err)
		hint := "run it again: it goes on where it stopped, and says nothing twice"
		if h := hintOf(err); h != "" {
			hint = h + "; then " + hint
		}
		return &fault{err: fmt.Errorf("post review: %w (%s left)", err, plural(d.Left, "thing")), hint: hint, status: precedent.ExitIncomplete}
	case d.Superseded:
		return &fault{err: fmt.Errorf("#%d got new commits meanwhile: nothing was posted about %s", p.number, short(r.Head)), hint: "run it again for the new head", status: precedent.ExitIncomplete}
	case d.Undeliverable != "":
		a.notice("nothing can be posted on #%d: %s", p.number, d.Undeliverable)
		return statusOf(undelivered(status))
	case d.Left > 0:
		return &fault{err: fmt.Errorf("post review: %s left", plural(d.Left, "thing")), hint: "run it again: it goes on where it stopped", status: precedent.ExitIncomplete}
	}
	a.notice("%s", delivered(d))
	a.tellQuota(p.station)
	return statusOf(status)
}

// settle keeps what the review says of the threads before any of it is posted. A
// process that is killed after closing a conversation must not leave a memory that
// takes it for closed by a person.
func (p *publication) settle(ctx context.Context, r *precedent.Review) error {
	stored, err := p.poster.Rows.Threads(ctx, p.number)
	if err != nil {
		return err
	}
	return p.poster.Rows.SaveThreads(ctx, thread.Apply(stored, r.Threads, r.Head))
}

// learn keeps what became of the findings that were posted before. Without it
// the review stands all the same.
func (p *publication) learn(ctx context.Context, r *precedent.Review) error {
	if p.pull == nil { // another process reviewed, and may not have come to this
		owed, err := p.owes(ctx, r)
		if err != nil || !owed {
			return err
		}
		s, err := p.app.fetchPull(ctx, p.station, p.desk, p.number, errand{writer: p.writer, posts: true})
		if err != nil {
			return err
		}
		defer s.pull.history.close()
		if s.rg.Head != r.Head {
			return nil // the next review learns it
		}
		p.pull = s.pull
		// Nothing has become yet of what it said itself.
		p.pull.history.threads = slices.DeleteFunc(p.pull.history.threads, func(t precedent.Thread) bool { return t.Review == r.ID })
	}
	h := &p.pull.history
	if h.trees.Read == nil {
		return nil // nobody can tell what the code is like
	}
	h.threads = thread.Apply(h.threads, r.Threads, r.Head)
	return p.app.learnOutcomes(ctx, p.station, p.desk, p.pull, r.Threads)
}

// owes tells whether there are threads from before the review.
func (p *publication) owes(ctx context.Context, r *precedent.Review) (bool, error) {
	stored, err := p.poster.Rows.Threads(ctx, p.number)
	return slices.ContainsFunc(stored, func(t precedent.Thread) bool { return t.Review != r.ID }), err
}

// delivered says what was posted.
func delivered(d post.Delivery) string {
	said := plural(d.Posted, "thing") + " posted"
	for _, more := range []struct {
		n    int
		what string
	}{{d.Adopted, "were there already"}, {d.Rejected, "refused by the forge, and in the summary"}, {d.Deleted, "duplicates removed"}} {
		if more.n > 0 {
			said += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	if d.URL != "" {
		said += ": " + d.URL
	}
	return said
}

// tellQuota says how much of the forge's rate limit is left.
func (a *app) tellQuota(st *station) {
	if q := st.Quota(); q.Limit > 0 {
		a.notice("%s has %s", st.Host(), leftOf(q))
	}
}

// leftOf says how much is left of a rate limit.
func leftOf(q forge.Quota) string {
	return fmt.Sprintf("%d of %d requests left until %s", q.Left, q.Limit, q.Reset.UTC().Format(time.TimeOnly))
}

// statusOf is the end of a command with an exit status.
func statusOf(status int) error {
	if status == precedent.ExitClean {
		return nil
	}
	return exitStatus(status)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
