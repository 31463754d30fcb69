package review

import (
	"cmp"

	"github.com/precedent-dev/precedent"
)

// moreSpecific tells whether f speaks for a group rather than g: an analyzer
// computes what others believe; then who offers a fix, quotes verbatim, sees
// the worst, is surest, and points at fewest lines.
func moreSpecific(f, g *precedent.Finding) bool {
	return cmp.Or(
		first(f.Analyzer, g.Analyzer),
		first(f.Suggestion != "", g.Suggestion != ""),
		first(!f.Inexact, !g.Inexact),
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
