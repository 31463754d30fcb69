package review

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Likeness is what place and text tell of whether two findings say the same.
type Likeness string

// The likenesses.
const (
	SurelySame  Likeness = "same"
	PerhapsSame Likeness = "grey" // a judge decides
	NotSame     Likeness = "distinct"
)

// Alike decides on two findings as the merge stage does.
func Alike(a, b *precedent.Finding) Likeness {
	if byContent(a, b) > 0 {
		a, b = b, a
	}
	return alike(a, b, func() float64 { return Similarity(a, b) })
}

// Similarity is that of what two findings say, 0 to 1.
func Similarity(a, b *precedent.Finding) float64 {
	return text.Cosine(words(a), words(b))
}

func words(f *precedent.Finding) text.Vector { return text.NewVector(f.Title + "\n" + f.Body) }

// alike decides on two findings, the first of which does not start behind the
// second. The similarity is asked for only if place and kind leave it open.
func alike(a, b *precedent.Finding, similarity func() float64) Likeness {
	samePlace := a.Start == b.Start
	switch {
	case !near(a, b):
		return NotSame
	case samePlace && a.Category == b.Category:
		return SurelySame
	case a.Analyzer && b.Analyzer && a.Finder == b.Finder:
		return NotSame // an analyzer does not repeat itself
	case a.Start == 0 && !samePlace:
		return NotSame // the file as a whole is near no line
	}
	s := similarity()
	overlap := a.Start > 0 && b.Start <= a.End
	switch {
	case samePlace && s >= samePlaceSimilarity, overlap && s >= overlapSimilarity:
		return SurelySame
	case overlap && s >= greySimilarity, !overlap && !samePlace && s >= nearSimilarity:
		return PerhapsSame
	}
	return NotSame
}

// near tells whether two findings, the first of which does not start behind the
// second, stand so close that they may be the same.
func near(a, b *precedent.Finding) bool {
	return b.Path == a.Path && b.Side == a.Side && b.Start <= a.End+nearLines
}
