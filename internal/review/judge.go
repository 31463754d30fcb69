package review

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// judge asks in one request which of the doubtful pairs are the same, of as many
// as it can hold. What it cannot hold, or does not answer, is nobody's opinion.
func (x *reader) judge(ctx context.Context, doubts []doubt) []opinion {
	opinions := make([]opinion, len(doubts))
	if len(doubts) == 0 || x.in.Engine == nil {
		return opinions
	}
	doubts = doubts[:min(len(doubts), prompt.MostPairs)]
	var pairs []prompt.Pair
	for i, d := range doubts {
		pairs = append(pairs, prompt.Pair{ID: fmt.Sprintf("p%d", i+1), A: remark(d.a), B: remark(d.b)})
	}
	r := x.ask(ctx, "judge", engine.Judge, []prompt.Prompt{prompt.Judge(pairs)})[0]
	said, err := readOpinions(r)
	if err != nil {
		x.fail("judge", "%d pairs of findings that may be the same were kept apart: %v", len(doubts), err)
		return opinions
	}
	missing := 0
	for i, d := range doubts {
		o, ok := said[pairs[i].ID]
		switch {
		case !ok:
			missing++
		case o.Same && o.stands(d):
			opinions[i] = same
		default:
			opinions[i] = distinct
		}
	}
	if missing > 0 {
		x.fail("judge", "the judge's answer leaves out %d of %d pairs of findings, which were kept apart", missing, len(doubts))
	}
	return opinions
}

func remark(f *precedent.Finding) prompt.Remark {
	return prompt.Remark{Place: f.Span.String(), Title: f.Title, Body: f.Body, Code: f.Quote}
}

// comparison is what a judge says of one pair.
type comparison struct {
	Pair  string `json:"pair"`
	Same  bool   `json:"same"`
	Quote string `json:"quote"`
}

func readOpinions(r reply) (map[string]comparison, error) {
	if !r.ok() {
		status, why := r.trouble()
		return nil, fmt.Errorf("%s: %s", status, why)
	}
	var answer struct {
		Pairs []comparison `json:"pairs"`
	}
	if err := json.Unmarshal(r.answer.JSON, &answer); err != nil {
		return nil, fmt.Errorf("read opinions: %w", err)
	}
	byPair := map[string]comparison{}
	for _, c := range answer.Pairs {
		if _, twice := byPair[c.Pair]; !twice {
			byPair[c.Pair] = c
		}
	}
	return byPair, nil
}

// stands tells whether the words that are given as proof are in one of the two
// findings. Made-up ones prove nothing, and then the two are not the same.
func (c comparison) stands(d doubt) bool {
	quote := strings.Trim(text.Squeeze(c.Quote), "\"'`.…")
	for _, f := range []*precedent.Finding{d.a, d.b} {
		if strings.Contains(text.Squeeze(f.Title+"\n"+f.Body+"\n"+f.Quote), quote) {
			return true
		}
	}
	return false
}
