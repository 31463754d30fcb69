package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
)

// judge asks in one request which pairs are the same, and returns the answers by the
// indexes of the pairs. Pairs beyond the size of a request, and those without an
// answer, are missing. what describes the pairs in a failure. A pair is the same only if
// holds agrees, which is code.
func (x *reader) judge(ctx context.Context, doubts []match.Doubt, what string,
	holds func(a, b *precedent.Finding) bool,
) map[int]bool {
	if len(doubts) == 0 || x.in.Engine == nil {
		return nil
	}
	doubts = doubts[:min(len(doubts), prompt.MostPairs)]
	var pairs []prompt.Pair
	for i, d := range doubts {
		pairs = append(pairs, JudgePair(i, d.A, d.B))
	}
	same := map[int]bool{}
	for i, said := range x.compare(ctx, prompt.Judge(pairs), len(doubts), what) {
		same[i] = said.SameRemark(pairs[i].Texts...)
		if a, b := doubts[i].A, doubts[i].B; same[i] && !holds(a, b) {
			same[i] = false
			b.Note("merge", "a judge found it the same as %q at %s, which nothing in the code proves", a.Title, a.Span)
		}
	}
	return same
}

// JudgePair returns what a judge is shown of two findings. Their secrets must be
// redacted already.
func JudgePair(i int, a, b *precedent.Finding) prompt.Pair {
	return prompt.RemarkPair(match.PairID(i), remark(a), remark(b))
}

// DismissedPair returns what a judge is shown of a finding, whose secrets must be
// redacted already, and of a dismissal or a learning that may cover it.
func DismissedPair(i int, q *memory.Question) prompt.Pair {
	j := &q.Dismissal
	what, claim, reason := "declined remark, on "+j.Path, j.Claim, j.Reason
	if l := q.Learning; l != nil {
		what, claim, reason = "directive, for "+cmp.Or(l.Glob, "all files"), l.Directive, l.Rationale
	} else if j.Symbol != "" {
		what += " in " + j.Symbol
	}
	return prompt.CoverPair(match.PairID(i), remark(q.Finding), what, secret.RedactText(claim), secret.RedactText(reason))
}

// dismissals returns the judge of whether dismissals cover findings; nil without an
// engine.
func (x *reader) dismissals(ctx context.Context) memory.Judge {
	if x.in.Engine == nil {
		return nil
	}
	return func(questions []memory.Question) map[int]bool {
		var pairs []prompt.Pair
		for i := range questions {
			pairs = append(pairs, DismissedPair(i, &questions[i]))
		}
		covered := map[int]bool{}
		for i, said := range x.compare(ctx, prompt.Covers(pairs), len(pairs),
			"pairs of a finding and a dismissal or a learning, so only certain matches were suppressed") {
			covered[i] = said.Covered(pairs[i].Texts...)
		}
		return covered
	}
}

func remark(f *precedent.Finding) prompt.Remark {
	return prompt.Remark{Place: f.String(), Title: f.Title, Body: f.Body, Code: f.Quote}
}

// compare asks about n pairs and returns the answers by index. what describes the
// pairs in a failure.
func (x *reader) compare(ctx context.Context, p prompt.Prompt, n int, what string) map[int]match.Answer {
	r := x.ask(ctx, "judge", engine.Judge, []prompt.Prompt{p})[0]
	err := r.problem()
	var said map[int]match.Answer
	if err == nil {
		said, err = match.ReadAnswers(r.answer.JSON, n)
	}
	if missing := n - len(said); missing > 0 {
		x.fail("judge", fmt.Sprintf("the judge did not compare %d of %d %s", missing, n, what),
			cmp.Or(err, errors.New("its answer does not cover them")))
	}
	return said
}
