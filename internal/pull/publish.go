package pull

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Publisher posts the reviews of one pull request.
type Publisher struct {
	Pull   *Pull
	Rows   *store.Repo
	Poster post.Poster // without a style
	// Delivered is what the last delivery of a review did.
	Delivered post.Delivery
	// Tries is the number of an incomplete review in a row, for a round; else 0.
	Tries int
	// Keeps makes converse.Answer store requests for a review before the comment counts as handled, so
	// that a run that ends before the review was made does not lose them. A round ends them.
	Keeps bool
}

// Publisher returns what posts on the pull request.
func (p *Pull) Publisher(ctx context.Context) (*Publisher, error) {
	me, err := p.Conn.Me(ctx)
	if err != nil {
		return nil, p.Conn.Explain(err)
	}
	writer := p.Writer
	// An App's token is made on the way. Whatever is wrong with that, requests tell.
	if secret, err := p.Conn.Token(ctx, p.Repo.Repo); err == nil && secret != "" {
		writer.Own = append(slices.Clip(writer.Own), secret)
	}
	r, rows := p.Env, p.Workspace.Memory.Rows
	return &Publisher{Pull: p, Rows: rows, Poster: post.Poster{
		Forge: p.Conn, Rows: rows, Writer: writer, Me: me, Now: r.Now, Sleep: r.Sleep, Rand: rand.N[time.Duration],
		NewID: r.NewID, Instant: p.Conn.Instant, Replica: r.Replica,
	}}, nil
}

// existingReview is an earlier review of the current head, which makes another one unnecessary.
type existingReview struct {
	run.Result
	unfinished, posted bool   // some posts are not delivered; the summary is posted
	taught             bool   // what waits for approval is not what the review says
	state              *State // as it is now; nil if it could not be read
}

// existing returns the earlier review of the current head, if it is complete and
// posted, or if some of its posts are not delivered. It ignores reviews against
// another base, and reviews without an engine if there is one now. quiet leaves out the notice that the head was
// reviewed already.
func (p *Publisher) existing(ctx context.Context, job run.Job, quiet bool) (existingReview, bool, error) {
	pull, r := p.Pull, p.Pull.Env
	last, found, err := p.Rows.LastReview(ctx, pull.Number)
	if err != nil || !found || !p.covers(last, job) {
		return existingReview{}, false, err
	}
	posts, err := p.Rows.Posts(ctx, pull.Number)
	if err != nil {
		return existingReview{}, false, err
	}
	was := last.Memory.LearningsPending
	if last.Memory.LearningsPending, err = pull.Workspace.Memory.PendingOn(ctx, pull.Number); err != nil {
		return existingReview{}, false, err
	}
	taught := !slices.EqualFunc(was, last.Memory.LearningsPending,
		func(a, b precedent.LearningUse) bool { return a.ID == b.ID })
	s := existingReview{taught: taught, Result: run.Result{
		Review: last, Style: report.Style{
			NoEngine: last.Scope == precedent.AnalyzersScope,
			Options:  pull.Workspace.Options(),
		},
		Status: last.ExitStatus(job.Settings.FailOn.Value),
	}}
	elsewhere := map[string]bool{} // heads whose summary another review has posted
	for _, q := range posts {
		elsewhere[q.Head] = elsewhere[q.Head] || q.Kind == store.PostSummary && q.State == store.PostConfirmed
	}
	for _, q := range posts {
		if q.Review == last.ID {
			s.unfinished = s.unfinished || !q.State.Done()
			if q.Kind == store.PostSummary {
				s.Style.Precedents = post.OptionsOf(q).Precedents
			}
			s.posted = s.posted || q.Kind == store.PostSummary &&
				(q.State == store.PostConfirmed || q.State == store.PostSuperseded && elsewhere[q.Head])
		}
	}
	complete := last.Verdict != precedent.Partial && last.Verdict != precedent.Failed
	switch {
	case s.unfinished:
		r.Notice(ctx, "continuing to post review %s of %s", last.ID, workspace.ShortID(last.Head))
	case !complete, !s.posted && !pull.Locked:
		return existingReview{}, false, nil
	case !s.posted:
		r.Notice(ctx, "nothing can be posted on #%d: the pull request is locked; --again reviews it again", pull.Number)
	case !quiet:
		r.Notice(ctx, "%s was reviewed already (review %s); --again reviews it again", workspace.ShortID(last.Head), last.ID)
	}
	if s.unfinished || s.posted {
		err = p.lookAgain(ctx, job, &s, posts)
	}
	return s, true, err
}

// Unfinished tells whether existing returns a review some of whose posts are not delivered.
func (p *Publisher) Unfinished(ctx context.Context, job run.Job) (bool, error) {
	posts, err := p.Rows.Posts(ctx, p.Pull.Number)
	i := slices.IndexFunc(posts, func(q store.Post) bool { return !q.State.Done() && q.Head == p.Pull.Head.SHA })
	if err != nil || i < 0 {
		return false, err
	}
	last, found, err := p.Rows.LastReview(ctx, p.Pull.Number)
	return found && p.covers(last, job) && slices.ContainsFunc(posts[i:],
		func(q store.Post) bool { return q.Review == last.ID && !q.State.Done() }), err
}

// Retargeted tells whether the last review of the head is against another base branch.
func (p *Publisher) Retargeted(ctx context.Context) (bool, error) {
	last, found, err := p.Rows.LastReview(ctx, p.Pull.Number)
	return found && last.Head == p.Pull.Head.SHA && last.Target.Base != p.Pull.Base.Name, err
}

// covers tells whether a review is one of the head, against its base, that needs no other one.
func (p *Publisher) covers(last *precedent.Review, job run.Job) bool {
	lacks := last.NoEngine && job.Engine.Enabled()
	return last.Head == p.Pull.Head.SHA && last.Target.Base == p.Pull.Base.Name && !job.Again && !lacks
}

// Refresh updates the summary and the check of the head's review with what people closed, reopened and taught since.
func (p *Publisher) Refresh(ctx context.Context, job run.Job) error {
	last, found, err := p.Rows.LastReview(ctx, p.Pull.Number)
	if err != nil || !found || !p.covers(last, job) {
		return err
	}
	threads, err := p.Rows.Threads(ctx, p.Pull.Number)
	if err != nil || len(threads)+len(last.Memory.LearningsPending) == 0 {
		return err
	}
	s, found, err := p.existing(ctx, job, true)
	if err != nil || !found || !s.unfinished {
		return err
	}
	_, err = p.finish(ctx, s)
	return err
}

// finish delivers what is left of an existing review, and learns the outcomes of
// earlier ones. It returns the exit status.
func (p *Publisher) finish(ctx context.Context, s existingReview) (int, error) {
	if !s.unfinished && !s.posted {
		return undeliveredStatus(s.Status), nil
	}
	if s.unfinished {
		p.Poster.Recheck = p.recheck
		p.Poster.Writer.Answers = p.Pull.answers(ctx)
		if err := thread.Answer(ctx, p.Rows, p.Pull.Number, s.Review); err != nil {
			return 0, err
		}
		if s.state != nil { // it was read before, and is what learns
			s.state.Earlier.Threads = thread.Apply(s.state.Earlier.Threads, s.Review)
		}
	}
	return p.deliver(ctx, s.Result, func() error { return p.learnAgain(ctx, s.Review, s.state) })
}

// Prepare fetches everything for a review that is posted. Code that a posted review
// has read and that did not change since is not read again, unless job.Again is set.
func (p *Publisher) Prepare(ctx context.Context, job run.Job) (*Prepared, error) {
	s, err := p.Pull.Gather(ctx, Purpose{Posts: true, Engine: job.Engine.Enabled()})
	if err != nil {
		return nil, err
	}
	if job.Again {
		s.Earlier.since = nil
	}
	p.Poster.Writer.Answers = p.Pull.answers(ctx)
	x, err := p.Pull.prepare(ctx, s, job)
	if err != nil {
		return nil, err
	}
	x.Plan = func(r *precedent.Review) []store.Post {
		return p.Poster.Plan(r, s.Earlier.Threads, post.Options{
			FailOn: job.Settings.FailOn.Value, RequestChanges: x.Input.Policy.RequestChanges,
			PassWithoutModel: x.Input.Policy.PassWithoutModel, Precedents: x.Input.Policy.Precedents, Tries: p.Tries,
			Unrelated: s.Range.Unrelated,
		})
	}
	x.Recheck = p.recheck
	return x, nil
}

// Deliver posts a review that this Publisher prepared, and learns the outcomes of earlier findings. It
// returns the exit status: the review's, or that of an incomplete one if nothing can be posted.
func (p *Publisher) Deliver(ctx context.Context, x *Prepared, made run.Result) (int, error) {
	if err := thread.Answer(ctx, p.Rows, p.Pull.Number, made.Review); err != nil {
		return 0, err
	}
	made.Style.Closed = p.closed(ctx, x.State, made.Review)
	return p.deliver(ctx, made, func() error {
		return p.Pull.learn(ctx, x.State, made.Review)
	})
}

func (p *Publisher) deliver(ctx context.Context, made run.Result, learn func() error) (int, error) {
	pull, r := p.Pull, p.Pull.Env
	poster := p.Poster
	poster.Style = made.Style
	poster.Style.Version, poster.Style.Links = r.Version, p.Poster.Writer.Links
	poster.Style.LineURL = pull.lineURL(made.Review, made.Style.Change)
	d, err := poster.Deliver(ctx, pull.Repo.Repo, pull.Number)
	p.Delivered = d
	if ctx.Err() == nil {
		if err := learn(); err != nil && ctx.Err() == nil {
			r.Notice(ctx, "%v; the outcomes of earlier findings are not stored", err)
		}
	}
	for _, note := range d.Notes {
		r.Notice(ctx, "%s", note)
	}
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err := p.deliveryError(d, err, made.Review.Head); err != nil {
		return 0, err
	}
	switch {
	case d.Undeliverable != "":
		r.Notice(ctx, "nothing can be posted on #%d: %s", pull.Number, d.Undeliverable)
		return undeliveredStatus(made.Status), nil
	case d.OtherRun && d.Left > 0:
		r.Notice(ctx, "another run is posting on #%d: %s left to it; the next run posts what it does not", pull.Number,
			countPosts(d.Left))
		return undeliveredStatus(made.Status), nil
	case d.OtherRun:
		r.Notice(ctx, "another run has posted its review of %s on #%d", workspace.ShortID(made.Review.Head), pull.Number)
	}
	r.Notice(ctx, "%s", deliverySummary(d))
	pull.noticeQuota(ctx)
	return made.Status, nil
}

// lineURL makes the addresses of lines on the forge as people look at them: of the reviewed head, and of its
// base for lines that the change took away. There is none where the forge has no pages, and where nobody
// knows what the file was called before.
func (p *Pull) lineURL(r *precedent.Review, change *diff.Change) func(precedent.Span) string {
	return func(at precedent.Span) string {
		commit := r.Head
		if at.Side == precedent.Left {
			if change == nil || change.File(at.Path) == nil {
				return ""
			}
			commit, at.Path = r.Base, change.File(at.Path).OldPath
		}
		return p.Conn.Pages().Lines(p.Repo.Repo, commit, at)
	}
}

// deliveryError returns an error if the delivery must be repeated, else nil.
func (p *Publisher) deliveryError(d post.Delivery, err error, head string) error {
	hint := "run it again: it continues where it stopped"
	switch {
	case err != nil:
		err = p.Pull.Conn.Explain(err)
		hint += ", and posts nothing twice"
		if h := workspace.HintOf(err); h != "" {
			hint = h + "; then " + hint
		}
		err = fmt.Errorf("post review: %w (%s left)", err, countPosts(d.Left))
	case d.Superseded:
		err, hint = fmt.Errorf("#%d has new commits: nothing was posted about %s", p.Pull.Number, workspace.ShortID(head)),
			"run it again for the new head"
	case d.Unposted != "":
		err, hint = fmt.Errorf("post review: the forge rejected the summary: %s", d.Unposted),
			"run it with --again when that is solved"
	case d.Undeliverable == "" && d.Left > 0 && !d.OtherRun:
		err = fmt.Errorf("post review: %s left", countPosts(d.Left))
	default:
		return nil
	}
	return &workspace.Error{Err: err, Hint: hint, Status: precedent.ExitIncomplete}
}

// undeliveredStatus returns the exit status of a review that cannot be posted, which is never clean.
func undeliveredStatus(status int) int {
	if status == precedent.ExitClean {
		return precedent.ExitIncomplete
	}
	return status
}

// deliverySummary says what was posted, each kind by itself, and what was there already.
func deliverySummary(d post.Delivery) string {
	var sent, others []string
	for _, kind := range []struct {
		n         int
		one, many string
	}{
		{d.Remarks, "remark", "remarks"},
		{d.Replies, "answer", "answers"},
		{d.Edits, "answer in a remark", "answers in remarks"},
		{d.Resolved, "conversation closed or reopened", "conversations closed or reopened"},
		{d.Summaries, "summary", "summaries"},
		{d.Checks, "check", "checks"},
	} {
		if kind.n > 0 {
			sent = append(sent, workspace.Count(kind.n, kind.one, kind.many))
		}
	}
	if len(sent) == 0 {
		sent = []string{"nothing"}
	}
	for _, more := range []struct {
		n    int
		what string
	}{
		{d.Adopted, "already there"},
		{d.Rejected, "refused by the forge and moved to the summary"},
		{d.Deleted, "duplicates removed"},
	} {
		if more.n > 0 {
			others = append(others, fmt.Sprintf(", %d %s", more.n, more.what))
		}
	}
	words := strings.Join(sent, ", ") + " posted" + strings.Join(others, "")
	if d.URL != "" {
		words += ": " + d.URL
	}
	return words
}

func (p *Pull) noticeQuota(ctx context.Context) {
	if q := p.Conn.Quota(); q.Limit > 0 {
		p.Env.Notice(ctx, "%s has %s", p.Conn.Host(), QuotaLeft(q))
	}
}

// QuotaLeft says how much is left of a rate limit.
func QuotaLeft(q forge.Quota) string {
	return fmt.Sprintf("%d of %d requests left until %s", q.Left, q.Limit, q.Reset.UTC().Format(time.TimeOnly))
}

func countPosts(n int) string { return workspace.Count(n, "item", "items") }
