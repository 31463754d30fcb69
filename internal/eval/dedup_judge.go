package eval

import (
	"context"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/secret"
)

// Judging is what asking a judge took, and how it ended.
type Judging struct {
	Engine   string           `json:"engine"`
	Status   precedent.Status `json:"status"` // of the first request that failed; else ok
	Error    string           `json:"error"`
	Asked    int              `json:"asked"`
	Answered int              `json:"answered"`
	Unproven int              `json:"unproven"` // yes, with made-up words as proof: they count as no
	Spent    Spent            `json:"spent"`

	same    map[int]bool      // grey pairs, by their index
	covered map[question]bool // findings, by rejections
}

// JudgePairs has the engine decide on the grey pairs, in requests as large as a
// review's. The first request that fails ends it. The error is that of a
// cancelled context.
func (v Reviewer) JudgePairs(ctx context.Context, pairs Pairs) (*Judging, error) {
	j := &Judging{Engine: v.Engine.Info().Who, Status: precedent.StatusOK, same: map[int]bool{}}
	var grey []int
	for i := range pairs.List {
		if pairs.List[i].alike() == review.PerhapsSame {
			grey = append(grey, i)
		}
	}
	j.Asked = len(grey)
	for batch := range slices.Chunk(grey, prompt.MostPairs) {
		var asked []prompt.Pair
		for i, at := range batch {
			asked = append(asked, prompt.Pair{ID: pairID(i), A: clean(&pairs.List[at].A), B: clean(&pairs.List[at].B)})
		}
		a, err := v.compare(ctx, JudgeName, prompt.Judge(asked), len(asked))
		if err != nil {
			return nil, err
		}
		j.Spent.Add(a.spent)
		j.Status, j.Error = a.status, a.message
		for i, at := range batch {
			said, ok := a.said[i]
			if !ok {
				continue
			}
			j.Answered++
			if first, second := asked[i].A, asked[i].B; said.Same {
				// As a review has it: nothing quoted is believed, made-up words are not.
				j.same[at] = said.Quote == "" || said.stands(first.Title, first.Body, first.Code, second.Title, second.Body, second.Code)
				if !j.same[at] {
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

// clean is a remark of a data set as a judge reads it: nobody redacted it before.
func clean(f *precedent.Finding) prompt.Remark {
	r := ofFinding(f)
	r.Title, _ = secret.Redact(r.Title)
	r.Body, _ = secret.Redact(r.Body)
	r.Code, _ = secret.Redact(r.Code)
	return r
}
