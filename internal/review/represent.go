package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
)

// best is the finding that speaks for a group.
func (m *matcher) best(group []int) *precedent.Finding {
	best := m.all[group[0]]
	for _, i := range group[1:] {
		if moreSpecific(m.all[i], best) {
			best = m.all[i]
		}
	}
	return best
}

// keepOne drops all findings of a group but the one that says most.
func (m *matcher) keepOne(group []int) {
	best := m.best(group)
	var finders []string
	for _, i := range group {
		finders = append(finders, m.all[i].Finder)
	}
	slices.Sort(finders)
	finders = slices.Compact(finders)
	best.Votes = len(finders)
	d := precedent.Decision{Step: "merge", Says: fmt.Sprintf("stands for %d findings of %s", len(group), strings.Join(finders, ", "))}
	if !best.Analyzer {
		d.Delta = min(agreeDelta*(len(finders)-1), agreeMost)
	}
	best.Trail = append(best.Trail, d)
	for _, i := range group {
		if f := m.all[i]; f != best {
			f.Drop("merge", precedent.Duplicate, best.ID, "says the same as %q at %s", best.Title, best.Span)
		}
	}
}

// moreSpecific tells whether f speaks for a group rather than g: an analyzer
// computes what others believe; then who offers a fix, quotes verbatim, sees
// the worst, is surest, and points at fewest lines.
func moreSpecific(f, g *precedent.Finding) bool {
	return cmp.Or(
		first(f.Analyzer, g.Analyzer),
		first(f.Suggestion != "", g.Suggestion != ""),
		first(verbatim(f), verbatim(g)),
		cmp.Compare(f.Severity.Rank(), g.Severity.Rank()),
		-cmp.Compare(f.Confidence, g.Confidence),
		cmp.Compare(f.End-f.Start, g.End-g.Start),
	) < 0
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// verbatim tells whether place found the quote as it was.
func verbatim(f *precedent.Finding) bool {
	return !slices.ContainsFunc(f.Trail, func(d precedent.Decision) bool { return d.Step == "place" && d.Delta < 0 })
}
