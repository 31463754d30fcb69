// Package match decides whether two remarks are the same: two findings of one review, a finding and the
// thread of an earlier one, a finding and one in memory, a finding and a dismissal. It compares place,
// category and words, selects the pairs that a judge decides, and reads the judge's answers. All thresholds
// are in thresholds.go.
//
// Its functions only use their arguments, so that reviews and their evaluation (internal/eval) share them.
package match

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Likeness reports whether two remarks are the same, as far as place and text show it.
type Likeness string

// The likenesses. A judge decides about those in the middle; if it does not answer,
// LikelySame counts as the same and PerhapsSame as distinct.
const (
	SurelySame  Likeness = "same"
	LikelySame  Likeness = "likely"
	PerhapsSame Likeness = "grey"
	NotSame     Likeness = "distinct"
)

// Likenesses lists all likenesses, the surest first.
var Likenesses = []Likeness{SurelySame, LikelySame, PerhapsSame, NotSame}

// Open reports whether a judge decides.
func (l Likeness) Open() bool { return l == LikelySame || l == PerhapsSame }

func rank(l Likeness) int { return slices.Index(Likenesses, l) }

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

// inOrder compares two findings, the first of which does not start after the second. It calls similarity only
// if place and category do not decide. Only similar words about shared lines in one category are the same
// without a judge: findings of different categories on one line are mostly about different things, and so are
// those of one category in different words.
func inOrder(a, b *precedent.Finding, similarity func() float64) Likeness {
	sameStart, sameCategory := a.Start == b.Start, a.Category == b.Category
	switch {
	case !near(a, b):
		return NotSame
	case a.Analyzer && b.Analyzer && a.Finder == b.Finder: // it does not repeat itself
		if sameStart && sameCategory && a.Rule == b.Rule {
			return SurelySame
		}
		return NotSame
	case a.Start == 0 && !sameStart:
		return NotSame // a whole file is not near any line
	}
	s := similarity()
	switch overlap := sameStart || b.Start <= a.End; {
	case overlap && sameCategory && s >= SameWords:
		return SurelySame
	case overlap && sameCategory && s >= Overlap:
		return LikelySame
	case sameStart && sameCategory, overlap && s >= Grey, !overlap && s >= Near:
		return PerhapsSame
	}
	return NotSame
}

// near reports whether two findings, the first of which does not start after the
// second, are close enough to be the same.
func near(a, b *precedent.Finding) bool {
	return b.Path == a.Path && b.Side == a.Side && b.Start <= a.End+NearLines
}

// Flagged returns the line that a quote flags, its first, with white space collapsed.
func Flagged(quote string) string {
	line, _, _ := strings.Cut(quote, "\n")
	return text.Collapse(line)
}
