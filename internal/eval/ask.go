package eval

import (
	"context"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// comparison is the outcome of a request to a judge.
type comparison struct {
	answers map[int]match.Answer // by the pair's index
	status  precedent.Status     // ok if every pair has an answer
	message string
	spent   Spent
}

// ask asks a judge about n pairs. The error is that of a cancelled context.
func (v Reviewer) ask(ctx context.Context, name string, p prompt.Prompt, n int) (comparison, error) {
	a, err := v.Engine.Run(ctx, engine.Task{
		Role: engine.Judge, Name: name, System: p.System, Common: p.Common,
		Prefix: p.Prefix, Prompt: p.Suffix, Schema: prompt.Schema(string(engine.Judge)), Timeout: v.Timeout,
	})
	out := comparison{status: a.Status, message: a.Message, spent: Spent{a.Usage, a.CostUSD}}
	if err == nil && a.Status == precedent.StatusOK {
		out.answers, err = match.ReadAnswers(a.JSON, n)
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		out.status, out.message = precedent.StatusError, err.Error()
		return out, nil //nolint:nilerr // an engine error is a result
	}
	if missing := n - len(out.answers); missing > 0 && out.status == precedent.StatusOK {
		out.status, out.message = precedent.StatusMalformed, fmt.Sprintf("%d of %d pairs have no answer", missing, n)
	}
	return out, nil
}

// askAll asks a judge about all, in requests as large as a review's, and stops at the first request that fails.
// take keeps an answer, and tells whether it is a proven yes. The error is that of a cancelled context.
func askAll[T any](ctx context.Context, v Reviewer, name string, all []T, about func(batch []T) prompt.Prompt,
	take func(i int, one T, said match.Answer) bool,
) (*Judging, error) {
	j := &Judging{Engine: v.Engine.Info().Who, Status: precedent.StatusOK, Asked: len(all)}
	for batch := range slices.Chunk(all, prompt.MostPairs) {
		a, err := v.ask(ctx, name, about(batch), len(batch))
		if err != nil {
			return nil, err
		}
		j.Spent.Add(a.spent)
		j.Status, j.Error = a.status, a.message
		for i, one := range batch {
			if said, ok := a.answers[i]; ok {
				j.Answered++
				if yes := take(i, one, said); said.Same && !yes {
					j.Unproven++
				}
			}
		}
		if a.status != precedent.StatusOK {
			break
		}
	}
	return j, nil
}
