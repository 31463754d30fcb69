package eval

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/text"
)

// question identifies a question to a judge: the ids of a finding and a dismissal.
type question struct{ finding, dismissal string }

func nameOf(q *memory.Question) question { return question{q.Finding.ID, q.Dismissal.ID} }

// covers returns the stored answers.
func (j *Judging) covers(questions []memory.Question) map[int]bool {
	covered := map[int]bool{}
	for i := range questions {
		if yes, ok := j.covered[nameOf(&questions[i])]; ok {
			covered[i] = yes
		}
	}
	return covered
}

// JudgeMemories asks the engine every question that the stage would ask a judge, each once, in requests as
// large as a review's. It stops at the first request that fails; text alone decides the unanswered questions.
// The error is that of a cancelled context.
func (v Reviewer) JudgeMemories(ctx context.Context, m Memories, draws int, seed uint64) (*Judging, error) {
	j := &Judging{Engine: v.Engine.Info().Who, Status: precedent.StatusOK, covered: map[question]bool{}}
	var open []memory.Question
	seen := map[question]bool{}
	note := func(questions []memory.Question) map[int]bool {
		for _, q := range questions {
			if name := nameOf(&q); !seen[name] {
				seen[name] = true
				open = append(open, q)
			}
		}
		return nil // the questions do not depend on the answers
	}
	m.suppression(memory.Suppress, always(note), seed)
	m.drawn(memory.Suppress, note, draws, seed)
	j.Asked = len(open)
	for batch := range slices.Chunk(open, prompt.MostPairs) {
		var pairs []prompt.DismissedPair
		for i, q := range batch {
			if q.Dismissal.Symbol == anySymbol {
				q.Dismissal.Symbol = ""
			}
			f := clean(*q.Finding)
			q.Finding, q.Dismissal.Claim = &f, text.Collapse(text.Clean(q.Dismissal.Claim))
			pairs = append(pairs, review.DismissedPair(i, &q))
		}
		a, err := v.ask(ctx, DismissedName, prompt.Covers(pairs), len(pairs))
		if err != nil {
			return nil, err
		}
		j.Spent.Add(a.spent)
		j.Status, j.Error = a.status, a.message
		for i := range batch {
			said, ok := a.answers[i]
			if !ok {
				continue
			}
			covered := said.Covered(pairs[i].Texts()...)
			if said.Same && !covered {
				j.Unproven++
			}
			j.Answered++
			j.covered[nameOf(&batch[i])] = covered
		}
		if a.status != precedent.StatusOK {
			break
		}
	}
	return j, nil
}
