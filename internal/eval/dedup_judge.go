package eval

import (
	"context"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Judging is the cost and outcome of asking a judge.
type Judging struct {
	Engine   string           `json:"engine"`
	Status   precedent.Status `json:"status"` // of the first request that failed; else ok
	Error    string           `json:"error"`
	Asked    int              `json:"asked"`
	Answered int              `json:"answered"`
	Unproven int              `json:"unproven"` // yes with an invented quote as proof; counts as no
	Spent    Spent            `json:"spent"`

	same    map[int]bool      // answered pairs, by their index
	covered map[question]bool // findings, by dismissals
}

// JudgePairs asks the engine about the pairs that a judge decides, in requests as large as a review's. It
// stops at the first request that fails. The error is that of a cancelled context.
func (v Reviewer) JudgePairs(ctx context.Context, pairs Pairs) (*Judging, error) {
	var open []int
	for i := range pairs.List {
		if pairs.List[i].alike().Open() {
			open = append(open, i)
		}
	}
	same := map[int]bool{}
	var asked []prompt.Pair
	j, err := askAll(ctx, v, JudgeName, open, func(batch []int) prompt.Prompt {
		asked = nil
		for i, at := range batch {
			x, y := clean(pairs.List[at].A), clean(pairs.List[at].B)
			asked = append(asked, review.JudgePair(i, &x, &y))
		}
		return prompt.Judge(asked)
	}, func(i, at int, said match.Answer) bool {
		same[at] = said.SameRemark(asked[i].Texts...)
		return same[at]
	})
	if err != nil {
		return nil, err
	}
	j.same = same
	return j, nil
}

// clean prepares a remark of a data set as a review prepares a finding: nothing has
// cleaned or redacted it yet.
func clean(f precedent.Finding) precedent.Finding {
	f.Title = secret.RedactText(text.Collapse(text.Clean(f.Title)))
	f.Body = secret.RedactText(strings.TrimSpace(text.Clean(f.Body)))
	f.Quote = string(secret.RedactFile(f.Path, []byte(f.Quote)))
	return f
}
