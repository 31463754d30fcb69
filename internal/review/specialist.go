package review

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// specialist is a Finder that asks an engine, with one request for each shard.
type specialist struct {
	spec prompt.Spec
	*specialists
	lead   bool
	number int // its index among the specialists that are asked
}

// Name is the specialist's name.
func (s *specialist) Name() string { return s.spec.Name }

// idle returns why the specialist has nothing to do, or "" if it has something.
func (s *specialist) idle(in *Input) (precedent.Status, string) {
	switch {
	case in.Engine == nil:
		return precedent.StatusOff, "no engine is configured"
	case len(s.plan.shards) == 0 && len(s.plan.before) > 0:
		if in.Last != nil {
			return precedent.StatusSkipped, "nothing has changed since the last review"
		}
		return precedent.StatusSkipped, "nothing has changed since " + short(in.Since.Head) + " was reviewed"
	case len(s.plan.shards) == 0:
		return precedent.StatusSkipped, "the change has nothing for a model to read"
	}
	return "", ""
}

// unguided reports whether the repository has no guide.
func (in *Input) unguided() bool { return len(in.Guide.Docs)+len(in.Guide.Rules) == 0 }

// Find asks about each shard of the plan. The lead asks about the first shard alone, then about the others. The other
// finders ask once all requests of the lead are being answered, so that a budget pays for those first.
func (s *specialist) Find(ctx context.Context, in *Input) Report {
	if status, why := s.idle(in); why != "" {
		return Report{Run: precedent.FinderRun{Status: status, Error: why}}
	}
	a := &specialistRun{in: in, s: s, replies: make([]reply, len(s.plan.shards))}
	begin, first := make([]func(), len(a.replies)), make(chan struct{})
	for i := range begin {
		begin[i] = func() {}
		if s.lead {
			begin[i] = sync.OnceFunc(func() {
				s.led.Done()
				if i == 0 {
					close(first)
				}
			})
			defer begin[i]()
		}
	}
	var err error
	if a.tree, err = in.export(ctx, in.Shown); err != nil {
		for i := range a.replies {
			s.trial.end(s.number, i, reply{err: err})
		}
		return s.report(in, a.replies, err)
	}
	if !s.lead {
		s.led.Wait()
	}
	var wg sync.WaitGroup
	for i := range a.replies {
		if s.lead && i == 1 {
			<-first
		}
		if !s.trial.allows(ctx, s.number, i) {
			if ctx.Err() == nil {
				a.replies[i] = s.trial.unsent()
			}
			continue
		}
		s.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-s.slots }()
			defer begin[i]()
			s.trial.end(s.number, i, a.ask(ctx, i, begin[i]))
		})
	}
	wg.Wait()
	return s.report(in, a.replies, nil)
}

// reply is the result of one request.
type reply struct {
	answer   engine.Answer
	err      error
	sent     bool
	findings []precedent.Finding
	positive string
}

func (r *reply) ok() bool { return r.sent && r.err == nil && r.answer.Status.Good() }

// specialistRun is the work of one specialist in one review.
type specialistRun struct {
	in   *Input
	s    *specialist
	tree string

	replies []reply
	done    atomic.Int64
}

// ask sends the request for one shard. The engine may call begun when the answer
// starts.
func (a *specialistRun) ask(ctx context.Context, i int, begun func()) reply {
	if ctx.Err() != nil {
		return reply{}
	}
	a.in.progress(Event{Finder: a.s.spec.Name, Done: int(a.done.Load()), Requests: len(a.replies)})
	build := func() prompt.Prompt { return a.s.prompt(a.in, a.s.spec, a.s.lead, i) }
	r := a.in.send(ctx, build, engine.Task{Role: engine.Finder, Name: a.s.spec.Name, Tree: a.tree, FirstByte: begun})
	if r.ok() {
		if r.findings, r.positive, r.err = readAnswer(r.answer.JSON, a.s.spec); r.err != nil {
			r.answer.Status = precedent.StatusMalformed
		}
	}
	a.replies[i] = r
	a.in.progress(Event{
		Finder: a.s.spec.Name, Done: int(a.done.Add(1)), Requests: len(a.replies),
		Usage: r.answer.Usage, CostUSD: r.answer.CostUSD,
	})
	return r
}

// prompt returns the prompt of a specialist for a shard.
func (w *specialists) prompt(in *Input, spec prompt.Spec, lead bool, shard int) prompt.Prompt {
	spec.Praise = lead && !in.Policy.NoPraise
	return w.sheet.Finder(spec, shard)
}

// withPrompt returns a task with its prompt.
func (in *Input) withPrompt(t engine.Task, p prompt.Prompt) engine.Task {
	t.System, t.Common, t.Prefix, t.Prompt = p.System, p.Common, p.Prefix, p.Suffix
	t.Schema, t.Timeout = prompt.Schema(string(t.Role)), in.Timeout
	return t
}

// send builds a prompt, completes the task with it, and runs the task. A panic of the
// engine becomes the reply's error.
func (in *Input) send(ctx context.Context, build func() prompt.Prompt, t engine.Task) (r reply) {
	defer func() {
		if crash := recover(); crash != nil {
			r.err = fmt.Errorf("the engine crashed: %v", crash)
		}
	}()
	t = in.withPrompt(t, build())
	r.sent = true
	r.answer, r.err = in.Engine.Run(ctx, t)
	return r
}

// report combines the replies in the order of the shards. The first failed one gives
// the run its status.
func (s *specialist) report(in *Input, replies []reply, err error) Report {
	rep := Report{Answered: make([]bool, len(replies))}
	run := &rep.Run
	run.Engine = in.Engine.Info().Name
	var worst *reply
	bad := 0
	for i := range replies {
		r := &replies[i]
		rep.Answered[i] = r.ok()
		rep.Findings = append(rep.Findings, r.findings...)
		run.Add(r.answer.Usage)
		run.CostUSD += r.answer.CostUSD
		run.Model = cmp.Or(run.Model, r.answer.Model)
		rep.Positive = cmp.Or(rep.Positive, r.positive)
		if !r.ok() {
			bad++
			if worst == nil || !worst.sent {
				worst = r
			}
		}
	}
	switch {
	case err != nil:
		run.Status, run.Error = precedent.StatusError, err.Error()
	case worst != nil:
		run.Status, run.Error = worst.failure()
		if len(replies) > 1 {
			run.Error = fmt.Sprintf("%d of %d requests were not answered; the first: %s", bad, len(replies), run.Error)
		}
	case len(rep.Findings) > 0:
		run.Status = precedent.StatusOK
	default:
		run.Status = precedent.StatusEmpty
	}
	return rep
}

// maxMessage bounds an engine's error message in a run, in characters.
const maxMessage = 2_000

// failure returns the status and the message of a request that failed.
func (r *reply) failure() (precedent.Status, string) {
	status := r.answer.Status
	switch {
	case r.err != nil && status != precedent.StatusMalformed:
		return precedent.StatusError, text.Cut(r.err.Error(), maxMessage)
	case r.err != nil:
		return status, text.Cut(r.err.Error(), maxMessage)
	case !r.sent:
		return precedent.StatusError, text.Cut(cmp.Or(r.answer.Message, "not sent"), maxMessage)
	case !status.Bad():
		return precedent.StatusError, fmt.Sprintf("the engine ended with the status %q", status)
	}
	return status, text.Cut(r.answer.Message, maxMessage)
}
