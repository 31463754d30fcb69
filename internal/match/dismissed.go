package match

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Claim is what a remark states in one sentence: the title of a finding, and all
// that a dismissal keeps of one.
type Claim struct{ words text.Vector }

// NewClaim returns the claim of a sentence.
func NewClaim(s string) Claim { return Claim{text.NewVector(s)} }

// Similarity is that of two claims, 0 to 1.
func (c Claim) Similarity(o Claim) float64 { return text.Cosine(c.words, o.words) }

// Asks returns how alike a dismissal and a finding are if a judge is asked whether it covers the finding, else 0: the
// similarity of the claim where the scope of the dismissal reaches, and 1 more at one place.
func Asks(j *precedent.Dismissal, f *precedent.Finding, reaches bool, similarity func() float64) float64 {
	switch {
	case atPlace(j, f):
		return 1 + similarity()
	case !reaches:
		return 0
	}
	if s := similarity(); s >= AskClaim {
		return s
	}
	return 0
}

// Covers reports whether a dismissal covers a finding where no judge answers: at one place in the same
// category or in similar words, and about one symbol, as far as its scope reaches, in nearly the same words.
// Text alone cannot both recognise other words for one remark and spare other bugs, so only near certainty
// counts.
func Covers(j *precedent.Dismissal, f *precedent.Finding, reaches bool, similarity func() float64) bool {
	if atPlace(j, f) && (j.Category == f.Category || similarity() >= SamePlace) {
		return true
	}
	return j.Symbol != "" && j.Symbol == f.Symbol && reaches && similarity() >= SameClaim
}

func atPlace(j *precedent.Dismissal, f *precedent.Finding) bool {
	return j.Place != "" && j.Place == f.Place
}
