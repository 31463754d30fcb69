package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// mostLinks bounds the links of one finding to similar findings and possible
// duplicates.
const mostLinks = 5

// merge drops duplicates and counts how many finders agree on the finding that
// remains. judge decides the pairs that may be the same, by their indexes. names gives
// different identities to the findings that remain. The order of the findings does not matter.
func merge(fs []precedent.Finding, names identities, judge func([]match.Doubt) map[int]bool) {
	var live []*precedent.Finding
	for i := range fs {
		if fs[i].Live() {
			live = append(live, &fs[i])
		}
	}
	slices.SortStableFunc(live, byContent)
	set := match.NewSet(live)
	groups, apart := set.Group(moreSpecific, judge)
	names.distinguish(groups)
	l := links{}
	for _, d := range apart {
		if d.Judged {
			l.add(d, "similar to the finding at %s (similarity %.2f), but a judge found them different")
		} else {
			l.add(d, "possibly the same as the finding at %s (similarity %.2f); kept apart because no judge compared them")
		}
	}
	for _, group := range groups {
		keepFirst(group)
	}
	for _, d := range set.Siblings() {
		l.add(d, "also at %s (similarity %.2f)")
	}
}

// keepFirst drops all findings of a group except the first. Those that no judge
// compared do not count as agreement.
func keepFirst(group match.Group) {
	first := group.First
	finders := []string{first.Finder}
	for _, f := range group.Same {
		finders = append(finders, f.Finder)
	}
	slices.Sort(finders)
	finders = slices.Compact(finders)
	first.Votes = len(finders)
	if len(group.Same) > 0 {
		first.Note("merge", "represents %d findings of %s", 1+len(group.Same), strings.Join(finders, ", "))
	}
	if n := len(group.Likely); n > 0 {
		first.Note("merge", "likely the same as %d more, which no judge compared", n)
	}
	for _, f := range slices.Concat(group.Same, group.Likely) {
		f.Drop("merge", precedent.Duplicate, first.ID, "duplicate of %q at %s", first.Title, first.Span)
		if isSevere(f.Severity) && f.Severity.Rank() < first.Severity.Rank() {
			first.Note("merge", "%s, as the duplicate by %s", f.Severity, f.Finder)
			first.Severity = f.Severity
		}
	}
}

// links counts the notes of each finding about similar ones.
type links map[*precedent.Finding]int

// add adds a note about each of two findings to the other. The format takes a span
// and the similarity.
func (l links) add(d match.Doubt, format string) {
	note := func(f, other *precedent.Finding) {
		if l[f]++; l[f] <= mostLinks {
			f.Trail = append(f.Trail, precedent.Decision{
				Step: "merge", Text: fmt.Sprintf(format, other.Span, d.Similarity),
				By: other.ID,
			})
		}
	}
	note(d.A, d.B)
	note(d.B, d.A)
}

// byContent orders findings by span, then by all other fields from the finder, so
// that only equal findings compare as equal.
func byContent(a, b *precedent.Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		-cmp.Compare(a.Side, b.Side), // RIGHT first
		cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.End, b.End),
		cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
		-cmp.Compare(a.Confidence, b.Confidence),
		cmp.Compare(a.Category, b.Category),
		cmp.Compare(a.Finder, b.Finder),
		cmp.Compare(a.Title, b.Title),
		cmp.Compare(a.Body, b.Body),
		cmp.Compare(a.Quote, b.Quote),
		cmp.Compare(a.Suggestion, b.Suggestion),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Symbol, b.Symbol),
		cmp.Compare(a.Breaks.Path, b.Breaks.Path),
		cmp.Compare(a.Breaks.Line, b.Breaks.Line),
		slices.CompareFunc(a.Evidence, b.Evidence, func(x, y precedent.Evidence) int {
			return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Quote, y.Quote))
		}),
	)
}
