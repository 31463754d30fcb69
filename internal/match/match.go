// Package match decides whether two remarks are the same: two findings of one
// review, a finding and the thread of an earlier one, a finding and one in memory, a
// finding and a dismissal. It compares place, category and words, selects the pairs
// that a judge decides, and reads the judge's answers. All thresholds are in
// thresholds.go.
//
// Its functions only use their arguments, so that reviews and their evaluation
// (internal/eval) share them.
package match

import (
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Likeness tells whether two remarks are the same, as far as place and text show it.
type Likeness string

// The likenesses.
const (
	SurelySame  Likeness = "same"
	PerhapsSame Likeness = "grey" // a judge decides
	NotSame     Likeness = "distinct"
)

// rank orders likenesses, the surest first.
var rank = map[Likeness]int{SurelySame: 0, PerhapsSame: 1, NotSame: 2}

// Findings compares two findings of one change, in either order.
func Findings(a, b *precedent.Finding) Likeness {
	if b.Start < a.Start {
		a, b = b, a
	}
	return inOrder(a, b, func() float64 { return Similarity(a, b) })
}

// Similarity returns the similarity of the texts of two findings, 0 to 1.
func Similarity(a, b *precedent.Finding) float64 {
	return text.Cosine(words(a), words(b))
}

func words(f *precedent.Finding) text.Vector { return text.NewVector(f.Title + "\n" + f.Body) }

// inOrder compares two findings, the first of which does not start after the second.
// It calls similarity only if place and category do not decide.
func inOrder(a, b *precedent.Finding, similarity func() float64) Likeness {
	sameStart := a.Start == b.Start
	switch {
	case !near(a, b):
		return NotSame
	case sameStart && a.Category == b.Category:
		return SurelySame
	case a.Analyzer && b.Analyzer && a.Finder == b.Finder:
		return NotSame // an analyzer does not repeat itself
	case a.Start == 0 && !sameStart:
		return NotSame // a whole file is not near any line
	}
	s := similarity()
	overlap := a.Start > 0 && b.Start <= a.End
	switch {
	case sameStart && s >= SamePlace, overlap && s >= Overlap:
		return SurelySame
	case overlap && s >= Grey, !overlap && !sameStart && s >= Near:
		return PerhapsSame
	}
	return NotSame
}

// near tells whether two findings, the first of which does not start after the
// second, are close enough to be the same.
func near(a, b *precedent.Finding) bool {
	return b.Path == a.Path && b.Side == a.Side && b.Start <= a.End+NearLines
}

// Flagged returns the line that a quote flags, its first, with white space collapsed.
func Flagged(quote string) string {
	line, _, _ := strings.Cut(quote, "\n")
	return text.Collapse(line)
}
