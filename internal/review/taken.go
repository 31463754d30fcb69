package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/text"
)

// takeAway records that a model's answer dropped a finding, by what quote. Only severe
// ones are recorded.
func (x *reader) takeAway(f *precedent.Finding, quote string) {
	if isSevere(f.Severity) && !f.Analyzer {
		x.taken = append(x.taken, precedent.TakenAway{
			Finding: f.ID, Title: f.Title, Severity: f.Severity, Span: f.Span, How: string(f.Dropped),
			Why: strings.TrimPrefix(f.DroppedWhy, "refuted: "), Quote: quote,
		})
	}
}

// takeAwayThread records that the engine's answer closed a thread, by what quote.
func (x *reader) takeAwayThread(q *inquiry, quote string) {
	if a := &q.answer; isSevere(q.remark.Severity) {
		x.taken = append(x.taken, precedent.TakenAway{
			Finding: a.Finding, Title: a.Title, Severity: a.Severity, Span: a.Span, How: string(a.State), Why: a.Why,
			Quote: quote,
		})
	}
}

// takenAway returns what was taken away, the worst first: what was recorded, and severe
// findings that a judge merged. Those that code found to be the same are still said.
func (x *reader) takenAway() []precedent.TakenAway {
	fs, byID := x.r.Findings, map[string]*precedent.Finding{}
	for i := range fs {
		byID[fs[i].ID] = &fs[i]
	}
	for i := range fs {
		f := &fs[i]
		if first := byID[f.DroppedBy]; f.Dropped == precedent.Duplicate && first != nil &&
			match.Findings(f, first) != match.SurelySame {
			x.takeAway(f, first.Title)
		}
	}
	for i := range x.taken {
		t := &x.taken[i]
		t.Quote = text.Cut(oneLine(t.Quote), maxProof)
		x.secrets.redact(&t.Title, &t.Why, &t.Quote)
	}
	slices.SortStableFunc(x.taken, func(a, b precedent.TakenAway) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Start, b.Start), cmp.Compare(a.Finding, b.Finding))
	})
	return x.taken
}

// provesSame reports whether a judge's word that two remarks are the same can end the
// second, which the first then stands for. For a severe one, code must see that they
// share a line or flag the same text, and that the first is as severe.
func provesSame(first, second *precedent.Finding) bool {
	if !isSevere(second.Severity) {
		return true
	}
	line := match.Flagged(second.Quote)
	together := second.Start > 0 && first.Overlaps(second.Span) || line != "" && match.Flagged(first.Quote) == line
	return together && first.Severity.AtLeast(second.Severity)
}
