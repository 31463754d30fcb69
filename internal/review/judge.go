package review

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/text"
)

// judge asks in one request which of the doubtful pairs are the same, of as many
// as it can hold. What it cannot hold, or does not answer, is nobody's opinion. what
// says, for the failure, what was to be compared.
func (x *reader) judge(ctx context.Context, doubts []doubt, what string) []opinion {
	opinions := make([]opinion, len(doubts))
	if len(doubts) == 0 || x.in.Engine == nil {
		return opinions
	}
	doubts = doubts[:min(len(doubts), prompt.MostPairs)]
	var pairs []prompt.Pair
	for i, d := range doubts {
		pairs = append(pairs, prompt.Pair{ID: pairID(i), A: remark(d.a), B: remark(d.b)})
	}
	for i, said := range x.compare(ctx, prompt.Judge(pairs), len(doubts), what) {
		opinions[i] = distinct
		if d := doubts[i]; said.Same && said.stands(d.a.Title, d.a.Body, d.a.Quote, d.b.Title, d.b.Body, d.b.Quote) {
			opinions[i] = same
		}
	}
	return opinions
}

// declined returns who says whether what people declined covers findings: nil if
// there is no engine to ask.
func (x *reader) declined(ctx context.Context) memory.Judge {
	if x.in.Engine == nil {
		return nil
	}
	return func(questions []memory.Question) map[int]bool {
		var pairs []prompt.Declined
		for i, q := range questions {
			j := q.Rejection
			where := j.Path
			if j.Symbol != "" {
				where += " in " + j.Symbol
			}
			pairs = append(pairs, prompt.Declined{
				ID: pairID(i), Finding: remark(q.Finding), Claim: redacted(j.Claim), Where: where, Reason: redacted(j.Reason),
			})
		}
		covered := map[int]bool{}
		for i, said := range x.compare(ctx, prompt.Covers(pairs), len(pairs), "findings with what people declined, so that only what is surely the same is hidden") {
			// Hiding takes proof: the words must be those of the person, or of the claim.
			covered[i] = said.Same && said.Quote != "" && said.stands(pairs[i].Claim, pairs[i].Reason)
		}
		return covered
	}
}

func pairID(i int) string { return fmt.Sprintf("p%d", i+1) }

func remark(f *precedent.Finding) prompt.Remark {
	return prompt.Remark{Place: f.String(), Title: f.Title, Body: f.Body, Code: f.Quote}
}

// comparison is what a judge says of one pair.
type comparison struct {
	Pair  string `json:"pair"`
	Same  bool   `json:"same"`
	Quote string `json:"quote"`
}

// compare asks about n pairs and returns what was said of each, by its index.
// what says, for the failure, what was to be compared.
func (x *reader) compare(ctx context.Context, p prompt.Prompt, n int, what string) map[int]comparison {
	r := x.ask(ctx, "judge", engine.Judge, []prompt.Prompt{p})[0]
	if !r.ok() {
		status, why := r.trouble()
		x.fail("judge", "no judge compared %s (%d): %s: %s", what, n, status, why)
		return nil
	}
	var answer struct {
		Pairs []comparison `json:"pairs"`
	}
	if err := json.Unmarshal(r.answer.JSON, &answer); err != nil {
		x.fail("judge", "no judge compared %s (%d): read answer: %v", what, n, err)
		return nil
	}
	said := map[int]comparison{}
	for i := range n {
		at := slices.IndexFunc(answer.Pairs, func(c comparison) bool { return c.Pair == pairID(i) })
		if at >= 0 {
			said[i] = answer.Pairs[at]
		}
	}
	if missing := n - len(said); missing > 0 {
		x.fail("judge", "no judge compared %s (%d of %d): its answer leaves them out", what, missing, n)
	}
	return said
}

// stands tells whether the words that are given as proof are in one of the
// texts. Made-up ones prove nothing.
func (c comparison) stands(texts ...string) bool {
	quote := strings.Trim(text.Squeeze(c.Quote), "\"'`.…")
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(text.Squeeze(t), quote) })
}
