package review

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// reader asks the engine about findings and threads after the finders. If that
// fails, no finding is lost, and the review lists a failure.
type reader struct {
	in *Input
	*specialists
	src     *sources
	threads []*openThread         // of the pull request
	before  map[diff.HunkRef]bool // hunks that an earlier review has read
	kept    []precedent.Finding   // of the last review, in hunks that are not read again
	unread  map[fileOf]bool       // files that an analyzer had to read and could not, as with a compile error
	// The stages share these.
	r        *precedent.Review
	placer   *Placer
	secrets  redactor
	past     *memory.Dismissals
	open     map[string]bool // ids of kept findings that are there only if their thread's answer says so
	usage    precedent.Usage
	costUSD  float64
	failures []precedent.Failure
	taken    []precedent.TakenAway
}

// fileOf is a file that an analyzer had to read.
type fileOf struct{ analyzer, path string }

// newReader prepares what a review needs before the first request.
func newReader(in *Input) *reader {
	x := &reader{
		in: in, src: newSources(in.Change, in.Read), before: in.Since.readBefore(in.Change), unread: map[fileOf]bool{},
	}
	p := newPlan(in.Change, in.Policy.Ignore)
	if in.Engine != nil && !in.needsFullRead() { // analyzers read everything
		p.before = x.before
	}
	x.specialists = newSpecialists(in, p)
	x.threads = in.openThreads(x.src)
	x.part(x.findKept())
	return x
}

// ask sends prompts of one role concurrently, within the limit of slots, and returns
// the replies in the order of the prompts.
func (x *reader) ask(ctx context.Context, step string, role engine.Role, prompts []prompt.Prompt) []reply {
	if len(prompts) == 0 {
		return nil
	}
	if x.trial.failed {
		return slices.Repeat([]reply{x.trial.unsent()}, len(prompts))
	}
	task, err := x.task(ctx, step, role)
	if err != nil {
		return slices.Repeat([]reply{{err: err}}, len(prompts))
	}
	replies := make([]reply, len(prompts))
	x.in.progress(Event{Step: step, Requests: len(prompts)})
	var wg sync.WaitGroup
	var done atomic.Int64
	for i, p := range prompts {
		x.slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-x.slots }()
			r := reply{err: ctx.Err()}
			if r.err == nil {
				r = x.in.send(ctx, func() prompt.Prompt { return p }, task)
			}
			replies[i] = r
			x.in.progress(Event{
				Step: step, Done: int(done.Add(1)), Requests: len(prompts), Usage: r.answer.Usage,
				CostUSD: r.answer.CostUSD, Failed: !r.ok(),
			})
		})
	}
	wg.Wait()
	for i := range replies {
		x.usage.Add(replies[i].answer.Usage)
		x.costUSD += replies[i].answer.CostUSD
	}
	return replies
}

// task returns what the tasks of a role have in common. Without the base a verifier
// reads the head alone.
func (x *reader) task(ctx context.Context, step string, role engine.Role) (t engine.Task, err error) {
	t = engine.Task{Role: role, Name: string(role)}
	if role == engine.Judge { // compares only texts
		return t, nil
	}
	if t.Tree, err = x.in.export(ctx, x.in.Shown); err != nil || role != engine.Verifier {
		return t, err
	}
	if t.BaseTree, err = x.in.export(ctx, x.in.ShownBase); err != nil && ctx.Err() == nil {
		x.fail(step, "the verifier could not read the base", err)
		err = nil
	}
	return t, err
}

// unanswered is the error of a request that the engine did not answer.
type unanswered struct {
	status precedent.Status
	why    string
}

// readReply decodes the answer of a reply; what names it in an error.
func readReply[T any](r *reply, what string) (answer T, err error) {
	if err := r.problem(); err != nil {
		return answer, err
	}
	if err := json.Unmarshal(r.answer.JSON, &answer); err != nil {
		return answer, fmt.Errorf("read %s: %w", what, err)
	}
	return answer, nil
}

// problem returns the error of a request that failed; nil for one that was answered.
func (r *reply) problem() error {
	if r.ok() {
		return nil
	}
	status, why := r.failure()
	return &unanswered{status, why}
}

func (e *unanswered) Error() string { return string(e.status) + ": " + e.why }

// fail records a step that the review continues without: what was not done, and
// why.
func (x *reader) fail(step, what string, cause error) {
	f := precedent.Failure{Step: step, Error: text.Cut(what+": "+cause.Error(), maxMessage)}
	if e, ok := errors.AsType[*unanswered](cause); ok {
		f.Status = e.status
	}
	x.failures = append(x.failures, f)
}
