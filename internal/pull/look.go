package pull

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/post"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/thread"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// lookAgain reads the threads of a pull request whose head has a posted review. If people ended threads of open findings
// since, or reopened some, it saves a review without the former and with the latter, which takes the place of the existing
// one: its summary and check are to be posted. So they are if something else waits for approval.
func (p *Publisher) lookAgain(ctx context.Context, job run.Job, s *existingReview, posts []store.Post) error {
	pull, r := p.Pull, p.Pull.Env
	before, err := p.Rows.Threads(ctx, pull.Number)
	if err != nil {
		return err
	}
	state, err := pull.Gather(ctx, Purpose{Posts: true})
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.Notice(ctx, "%v; what people answered since is not known", err)
		return nil
	}
	s.state = state
	if state.Range.Head != s.Review.Head {
		return nil // the next review reads the threads
	}
	if state.Earlier.unsure {
		before = nil
	}
	if next, reopened := review.Followed(s.Review, before, state.Earlier.Threads, s.taught); next != nil && !s.unfinished {
		next.ID, next.At = r.NewID(), r.Now()
		o := post.Options{FailOn: job.Settings.FailOn.Value}
		for _, q := range posts {
			if q.Review == s.Review.ID && q.Kind == store.PostSummary {
				o = post.OptionsOf(q)
				o.FailOn = job.Settings.FailOn.Value
			}
		}
		if err := pull.Workspace.Memory.Rows.SaveReview(ctx, next, p.Poster.Plan(next, nil, o)...); err != nil {
			return err
		}
		if err := p.Rows.SaveThreads(ctx, reopened); err != nil {
			return err
		}
		r.Notice(ctx, "people answered since: updating the summary and the check")
		s.Review, s.Status, s.unfinished = next, next.ExitStatus(job.Settings.FailOn.Value), true
	}
	s.Style.Closed = p.closed(ctx, state, s.Review)
	return nil
}

// closed lists the findings of the pull request's threads that are not open any more after
// a review, oldest first.
func (p *Publisher) closed(ctx context.Context, s *State, r *precedent.Review) []report.Closed {
	outcomes, err := p.Rows.Outcomes(ctx, p.Pull.Number)
	if err != nil {
		p.Pull.Env.Notice(ctx, "%v; the summary does not say which commits fixed earlier findings", err)
	}
	var all []report.Closed
	for _, t := range thread.Apply(s.Earlier.Threads, r) {
		c := report.Closed{Thread: t.ID, Span: t.Span, Severity: t.Severity, Title: t.Title, URL: t.URL}
		answer := answerOf(r, t.ID)
		switch {
		case t.State == precedent.ThreadAddressed:
			describeFix(&c, answer, r.Head, outcomes)
		case t.State == precedent.ThreadWontFix || answer.State == precedent.DeclinedHere &&
			t.State != precedent.ThreadResolved:
			describeDismissal(&c, t, answer, s.Earlier.votes[t.ID], p.Pull.Author.ID)
		case t.State == precedent.ThreadResolved:
			c.How, c.Who = "resolved", thread.Closer(t)
		default:
			continue
		}
		all = append(all, c)
	}
	return all
}

// answerOf returns what a review says about a thread; the zero value if nothing.
func answerOf(r *precedent.Review, thread string) precedent.ThreadAnswer {
	for _, a := range r.Threads {
		if a.Thread == thread {
			return a
		}
	}
	return precedent.ThreadAnswer{}
}

// describeFix says which commit fixed a finding: that of its outcome, else the head.
func describeFix(c *report.Closed, answer precedent.ThreadAnswer, head string, outcomes []precedent.Outcome) {
	c.How = "fixed"
	if answer.Thread != "" {
		c.Why, c.Commit = answer.Why, workspace.ShortID(head)
	}
	if answer.State == precedent.NoLonger {
		c.How = "no longer applicable"
	}
	if i := slices.IndexFunc(outcomes, func(o precedent.Outcome) bool {
		return o.Thread == c.Thread && (o.Kind == precedent.Fixed || o.Kind == precedent.SuggestionTaken)
	}); i >= 0 {
		c.Commit = workspace.ShortID(outcomes[i].Commit)
	}
}

func describeDismissal(c *report.Closed, t precedent.Thread, answer precedent.ThreadAnswer, votes []thread.Vote,
	author precedent.ForgeID,
) {
	c.How = "dismissed"
	var words string
	c.Who, words = thread.Dismisser(t, votes, author)
	if c.Who == "" && t.Deleted {
		c.How = "deleted"
	}
	if answer.Thread != "" && c.Who == "" {
		c.Who, words, c.Why = answer.Who, answer.Words, answer.Why
	}
	if words != "" {
		c.Why = "“" + words + "”"
	}
}
