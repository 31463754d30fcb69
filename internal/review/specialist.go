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

// specialist asks an engine, with one request for each shard.
type specialist struct {
	in   *Input
	spec prompt.Spec
	*specialists
	lead   bool
	number int // its index among the specialists that are asked
}

// idle returns why specialists have nothing to do, or "" if they have something.
func (w *specialists) idle(in *Input) (precedent.Status, string) {
	switch {
	case in.Engine == nil:
		return precedent.StatusOff, "no engine is configured"
	case len(w.plan.shards) == 0 && len(w.plan.before) > 0:
		if in.Last != nil {
			return precedent.StatusSkipped, "nothing has changed since the last review"
		}
		return precedent.StatusSkipped, "nothing has changed since " + short(in.Since.Head) + " was reviewed"
	case len(w.plan.shards) == 0:
		return precedent.StatusSkipped, "the change has nothing for a model to read"
	}
	return "", ""
}

// find asks about each shard of the plan. The lead asks about the first shard alone, then about the others. The other
// finders ask once all requests of the lead are being answered, so that a budget pays for those first.
func (s *specialist) find(ctx context.Context) Report {
	if status, why := s.idle(s.in); why != "" {
		return Report{Run: precedent.FinderRun{Status: status, Error: why}}
	}
	replies := make([]reply, len(s.plan.shards))
	begin, first := make([]func(), len(replies)), make(chan struct{})
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
	tree, err := s.in.export(ctx, s.in.Shown)
	if err != nil {
		for i := range replies {
			s.trial.end(s.number, i, reply{err: err})
		}
		return s.report(replies, err)
	}
	if !s.lead {
		s.led.Wait()
	}
	var wg sync.WaitGroup
	var done atomic.Int64
	for i := range replies {
		if s.lead && i == 1 {
			<-first
		}
		if !s.trial.allows(ctx, s.number, i) {
			if ctx.Err() == nil {
				replies[i] = s.trial.unsent()
			}
			continue
		}
		s.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-s.slots }()
			defer begin[i]()
			r := &replies[i]
			if ctx.Err() == nil {
				s.in.progress(Event{Finder: s.spec.Name, Done: int(done.Load()), Requests: len(replies)})
				*r = s.ask(ctx, i, engine.Task{Role: engine.Finder, Name: s.spec.Name, Tree: tree, FirstByte: begin[i]})
				s.in.progress(Event{
					Finder: s.spec.Name, Done: int(done.Add(1)), Requests: len(replies),
					Usage: r.answer.Usage, CostUSD: r.answer.CostUSD,
				})
			}
			s.trial.end(s.number, i, *r)
		})
	}
	wg.Wait()
	return s.report(replies, nil)
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

// ask sends the request for one shard.
func (s *specialist) ask(ctx context.Context, shard int, t engine.Task) reply {
	r := s.in.send(ctx, func() prompt.Prompt { return s.prompt(s.in, s.spec, s.lead, shard) }, t)
	if r.ok() {
		if r.findings, r.positive, r.err = readAnswer(r.answer.JSON, s.spec); r.err != nil {
			r.answer.Status = precedent.StatusMalformed
		}
	}
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
func (s *specialist) report(replies []reply, err error) Report {
	rep := Report{Answered: make([]bool, len(replies))}
	run := &rep.Run
	run.Engine = s.in.Engine.Info().Name
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
