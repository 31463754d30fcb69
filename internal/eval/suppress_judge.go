package eval

import (
	"context"

	"github.com/precedent-dev/precedent/internal/match"
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
	covered := map[question]bool{}
	var pairs []prompt.Pair
	j, err := askAll(ctx, v, DismissedName, open, func(batch []memory.Question) prompt.Prompt {
		pairs = nil
		for i, q := range batch {
			if q.Dismissal.Symbol == anySymbol {
				q.Dismissal.Symbol = ""
			}
			f := clean(*q.Finding)
			q.Finding, q.Dismissal.Claim = &f, text.Collapse(text.Clean(q.Dismissal.Claim))
			pairs = append(pairs, review.DismissedPair(i, &q))
		}
		return prompt.Covers(pairs)
	}, func(i int, q memory.Question, said match.Answer) bool {
		covered[nameOf(&q)] = said.Covered(pairs[i].Texts...)
		return covered[nameOf(&q)]
	})
	if err != nil {
		return nil, err
	}
	j.covered = covered
	return j, nil
}
