package eval

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// question names what a judge is asked: the ids of a finding and a rejection.
type question struct{ finding, rejection string }

func nameOf(q *memory.Question) question { return question{q.Finding.ID, q.Rejection.ID} }

// covers answers from what was said.
func (j *Judging) covers(questions []memory.Question) map[int]bool {
	covered := map[int]bool{}
	for i := range questions {
		if yes, ok := j.covered[nameOf(&questions[i])]; ok {
			covered[i] = yes
		}
	}
	return covered
}

// JudgeMemories has the engine answer every question that the stage would put
// to a judge, each once, in requests as large as a review's. The first request
// that fails ends it; text alone decides what was not answered. The error is
// that of a cancelled context.
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
		return nil // what is asked does not depend on the answers
	}
	m.hushing(always(note), seed)
	m.drawn(note, draws, seed)
	j.Asked = len(open)
	for batch := range slices.Chunk(open, prompt.MostPairs) {
		var pairs []prompt.Declined
		for i, q := range batch {
			if q.Rejection.Symbol == anySymbol {
				q.Rejection.Symbol = ""
			}
			pairs = append(pairs, declinedPair(pairID(i), clean(q.Finding), &q.Rejection))
		}
		a, err := v.compare(ctx, DeclinedName, prompt.Covers(pairs), len(pairs))
		if err != nil {
			return nil, err
		}
		j.Spent.Add(a.spent)
		j.Status, j.Error = a.status, a.message
		for i := range batch {
			said, ok := a.said[i]
			if !ok {
				continue
			}
			proven := said.stands(pairs[i].Claim, pairs[i].Reason) // hiding takes proof
			if said.Same && !proven {
				j.Unproven++
			}
			j.Answered++
			j.covered[nameOf(&batch[i])] = said.Same && proven
		}
		if a.status != precedent.StatusOK {
			break
		}
	}
	return j, nil
}
