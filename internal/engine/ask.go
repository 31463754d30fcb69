package engine

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Reply is the result of one request.
type Reply struct {
	// Status is ok if Output is to be read, malformed if the reply could not be parsed
	// and the task is asked again, otherwise how the request ended.
	Status precedent.Status
	// Output is the answer as the model wrote it: JSON, or text that contains JSON.
	Output  []byte
	Message string // why the status is not ok, for a person
	Model   string
	Usage   precedent.Usage // Requests of less than one count as one, unless the budget did not allow the first
	CostUSD float64
	// Attempts counts the answers that were tried, including this one; less than one counts as one. A turn in
	// which an agent used a tool is a request, but not an attempt.
	Attempts int
}

// MostAttempts is how many answers to a task are tried: one, and two more if an answer could not be used.
const MostAttempts = 3

//go:embed reask.md
var reask string

// Ask does a task with up to MostAttempts answers. It is the only place where an answer becomes JSON that
// satisfies the task's schema. once sends the given task, whose prompt differs from t's after a malformed
// answer, and respects the context, which ends with the task's timeout. If once repeats a request by itself,
// it stays within MostAttempts and reports the number in Reply.Attempts. Only malformed answers are repeated,
// refusals are not. The usage of all requests is summed.
//
// The error is that of a cancelled ctx, of an invalid schema, or of once.
func Ask(ctx context.Context, t Task, once func(context.Context, Task) (Reply, error)) (Answer, error) {
	v, err := Compile(t.Schema)
	if err != nil {
		return Answer{}, fmt.Errorf("ask %s: %w", t.Name, err)
	}
	if t.Timeout <= 0 {
		t.Timeout = DefaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()

	var a Answer
	prompt, problem, tried := t.Prompt, "", 0
	for tried < MostAttempts {
		if timed.Err() != nil {
			break
		}
		r, err := once(timed, t)
		tried += max(r.Attempts, 1)
		a.count(r)
		a.Status, a.Message = r.Status, r.Message
		switch {
		case ctx.Err() != nil:
			return a, ctx.Err()
		case timed.Err() != nil && (err != nil || r.Status == precedent.StatusError):
			return a.timedOut(t, problem), nil
		case err != nil:
			return a, err
		case r.Status == precedent.StatusOK:
			answer, err := read(v, r.Output)
			if err == nil {
				a.JSON = answer
				return a, nil
			}
			a.Status, a.Message = precedent.StatusMalformed, err.Error()
		case r.Status != precedent.StatusMalformed:
			return a, nil
		}
		problem = a.Message
		t.Prompt = prompt + "\n\n" + strings.ReplaceAll(reask, "{{problem}}", problem)
	}
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if timed.Err() != nil {
		return a.timedOut(t, problem), nil
	}
	a.Message = fmt.Sprintf("no usable answer in %d requests: %s", tried, a.Message)
	return a, nil
}

// read turns a model's output into an answer that satisfies the schema.
func read(v *Validator, output []byte) (json.RawMessage, error) {
	answer, err := Repair(output)
	if err != nil {
		return nil, err
	}
	return v.Validate(v.wrap(answer))
}

// count adds the usage of a request.
func (a *Answer) count(r Reply) {
	if r.Status != precedent.StatusOverBudget {
		r.Usage.Requests = max(r.Usage.Requests, 1)
	}
	a.Usage.Add(r.Usage)
	a.CostUSD += r.CostUSD
	if r.Model != "" {
		a.Model = text.VisibleLine(text.Cut(secret.RedactText(r.Model), 100))
	}
}

// timedOut returns the answer to a task that ran out of time; problem is what was wrong
// with its last answer, if it had one.
func (a Answer) timedOut(t Task, problem string) Answer {
	a.Status, a.Message = precedent.StatusTimeout, fmt.Sprintf("no answer within %s", t.Timeout)
	if problem != "" {
		a.Message = fmt.Sprintf("no usable answer within %s: %s", t.Timeout, problem)
	}
	return a
}
