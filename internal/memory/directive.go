package memory

import (
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// directive is a learning, applied to findings.
type directive struct {
	precedent.Learning
	words match.Claim // of the directive
	claim match.Claim // of the finding that it was learned from
	names map[string]bool
}

func newDirective(l precedent.Learning) *directive {
	d := &directive{Learning: l, words: match.NewClaim(l.Directive), names: map[string]bool{}}
	if l.About != nil {
		d.claim = match.NewClaim(l.About.Claim)
	}
	for _, word := range strings.FieldsFunc(l.Directive, func(r rune) bool {
		return strings.ContainsRune(" ,;()`'\"",
			r)
	}) {
		d.names[plainRule(strings.TrimRight(word, ".:!?"))] = true
	}
	return d
}

// similarity is that of the learning, or of the finding that it was learned from, to a claim.
func (d *directive) similarity(claim match.Claim) float64 {
	return max(d.words.Similarity(claim), d.claim.Similarity(claim))
}

// namesRule reports whether the directive names the analyzer's rule of the finding, which has a
// digit, a dash or its analyzer's name, so that no ordinary word is taken for one.
func (d *directive) namesRule(f *precedent.Finding) bool {
	return f.Rule != "" && slices.ContainsFunc(ruleNames(f), func(name string) bool {
		return d.names[name] && strings.ContainsAny(name, "0123456789-/_")
	})
}

// asks reports whether a judge is asked if the learning speaks of a finding in its files: at the place that it was
// learned at, or where its words are like the finding's.
func (d *directive) asks(f *precedent.Finding, claim match.Claim) bool {
	return !d.namesRule(f) && (d.learnedAt(f) || d.similarity(claim) >= match.LikeDirective)
}

// couldHide reports whether the learning is taken to speak of an earlier finding: where its words are as much like it
// as those of a dismissal.
func (d *directive) couldHide(f *precedent.Finding, claim match.Claim) bool {
	return d.namesRule(f) || d.learnedAt(f) || d.similarity(claim) >= match.LikeClaim
}

// means reports whether the learning speaks of the finding where no judge answers. As for dismissals, only the rule, the
// place, or the symbol with nearly the same words, is certain.
func (d *directive) means(f *precedent.Finding, claim match.Claim) bool {
	s := d.similarity(claim)
	return d.namesRule(f) || d.learnedAt(f) && (d.About.Category == f.Category || s >= match.SamePlace) ||
		d.About != nil && d.About.Symbol != "" && d.About.Symbol == f.Symbol && s >= match.SameClaim
}

func (d *directive) learnedAt(f *precedent.Finding) bool {
	return d.About != nil && d.About.Place != "" && d.About.Place == f.Place
}
