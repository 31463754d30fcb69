package review

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// patience is how many requests of a finder may go wrong before one was
// answered. Then the rest is not sent: it would cost hours to learn the same.
const patience = 3

// specialist is a Finder that asks an engine, a request for each shard.
type specialist struct {
	spec  prompt.Spec
	plan  *plan
	brief *brief
}

// Name is the specialist's name.
func (s *specialist) Name() string { return s.spec.Name }

// Find asks about each shard of the plan: about the first one alone, so that an
// engine can keep what all prompts have in common, then about the others.
func (s *specialist) Find(ctx context.Context, in *Input) Report {
	switch {
	case in.Engine == nil:
		return Report{Run: precedent.FinderRun{Status: precedent.StatusOff, Error: "no engine is configured"}}
	case len(s.plan.shards) == 0:
		return Report{Run: precedent.FinderRun{
			Engine: in.Engine.Info().Name, Status: precedent.StatusSkipped, Error: "the change has nothing for a model to read",
		}}
	}
	var tree string
	if in.Engine.Info().WantsTree && in.Tree != nil {
		var err error
		if tree, err = in.Tree(ctx); err != nil {
			return s.report(in, make([]reply, len(s.plan.shards)), fmt.Errorf("export the head: %w", err))
		}
	}
	a := &asking{in: in, s: s, tree: tree, replies: make([]reply, len(s.plan.shards))}
	a.ask(ctx, 0)
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(in.Concurrency, len(a.replies)-1) {
		wg.Go(func() {
			for i := range next {
				a.ask(ctx, i)
			}
		})
	}
	for i := 1; i < len(a.replies); i++ {
		next <- i
	}
	close(next)
	wg.Wait()
	return s.report(in, a.replies, nil)
}

// reply is what became of one request.
type reply struct {
	answer   engine.Answer
	err      error
	sent     bool
	findings []precedent.Finding
	rules    []precedent.Rule
}

func (r *reply) ok() bool { return r.sent && r.err == nil && r.answer.Status.Good() }

// asking is the work of one specialist on one review.
type asking struct {
	in   *Input
	s    *specialist
	tree string

	mu       sync.Mutex
	replies  []reply
	done     int
	bad      int
	answered bool
}

// ask sends the request for one shard, unless there is no hope for it.
func (a *asking) ask(ctx context.Context, i int) {
	a.mu.Lock()
	hopeless := !a.answered && a.bad >= patience
	a.mu.Unlock()
	if hopeless || ctx.Err() != nil {
		return
	}
	p := prompt.Build(a.s.brief.input(a.s.spec, a.s.plan, i))
	r := reply{sent: true, rules: p.Rules}
	r.answer, r.err = a.in.Engine.Run(ctx, engine.Task{
		Role: engine.Finder, Name: a.s.spec.Name,
		System: p.System, Prompt: p.Prefix + p.Suffix, Schema: prompt.Schema(string(engine.Finder)),
		Tree: a.tree, Timeout: a.in.Timeout,
	})
	if r.ok() {
		if r.findings, r.err = readAnswer(r.answer.JSON, a.s.spec); r.err != nil {
			r.answer.Status = precedent.StatusMalformed
		}
	}
	a.in.progress(Event{Finder: a.s.spec.Name, Done: a.keep(i, r), Requests: len(a.replies)})
}

// keep keeps a reply and returns how many there are.
func (a *asking) keep(i int, r reply) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.replies[i] = r
	a.done++
	if r.ok() {
		a.answered = true
	} else {
		a.bad++
	}
	return a.done
}

// report sums the replies up, in the order of the shards. The first one that
// went wrong gives the run its status.
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
		run.Usage.Add(r.answer.Usage)
		run.CostUSD += r.answer.CostUSD
		run.Model = cmp.Or(run.Model, r.answer.Model)
		if rep.Rules == nil {
			rep.Rules = r.rules
		}
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
		run.Status, run.Error = worst.trouble()
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

// maxMessage bounds what a run tells of an engine's trouble, in characters.
const maxMessage = 2_000

// trouble says how a request ended that was not answered.
func (r *reply) trouble() (precedent.Status, string) {
	status := r.answer.Status
	switch {
	case r.err != nil && status != precedent.StatusMalformed:
		return precedent.StatusError, text.Cut(r.err.Error(), maxMessage)
	case r.err != nil:
		return status, text.Cut(r.err.Error(), maxMessage)
	case !r.sent:
		return precedent.StatusError, "it was not sent"
	case !status.Bad():
		return precedent.StatusError, fmt.Sprintf("the engine ended with the status %q", status)
	}
	return status, text.Cut(r.answer.Message, maxMessage)
}
