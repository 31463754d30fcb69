package review

import (
	"cmp"

	"github.com/precedent-dev/precedent"
)

// moreSpecific reports whether f represents a group rather than g. Findings of analyzers
// come first, then severe ones, the worst first, then those of a protected category, which memory does not hide, then
// those with a suggestion, an exact quote, the higher severity, the higher confidence, and the fewest lines.
func moreSpecific(f, g *precedent.Finding) bool {
	return cmp.Or(
		preferFirst(f.Analyzer, g.Analyzer),
		cmp.Compare(min(f.Severity.Rank(), precedent.Medium.Rank()), min(g.Severity.Rank(), precedent.Medium.Rank())),
		preferFirst(f.Category.Protected(), g.Category.Protected()),
		preferFirst(f.Suggestion != "", g.Suggestion != ""),
		preferFirst(!f.Inexact, !g.Inexact),
		cmp.Compare(f.Severity.Rank(), g.Severity.Rank()),
		-cmp.Compare(f.Confidence, g.Confidence),
		cmp.Compare(f.End-f.Start, g.End-g.Start),
	) < 0
}

func preferFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
