package match

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// AsksDirective reports whether a judge is asked if a learning speaks of a finding in its
// files: at the place that it was learned at, or where its words are like the finding's.
func AsksDirective(l *precedent.Learning, f *precedent.Finding, similarity func() float64) bool {
	return learnedAt(l, f) || similarity() >= LikeDirective
}

// DirectiveMayCover reports whether a learning is taken to speak of an earlier finding when it
// is tried on those: where its words are as much like it as those of a dismissal.
func DirectiveMayCover(l *precedent.Learning, f *precedent.Finding, similarity func() float64) bool {
	return learnedAt(l, f) || similarity() >= LikeClaim
}

// DirectiveCovers reports whether a learning speaks of a finding in its files where no judge answers. As for
// dismissals, only the place, or the symbol with nearly the same words, is certain.
func DirectiveCovers(l *precedent.Learning, f *precedent.Finding, similarity func() float64) bool {
	if learnedAt(l, f) && (l.About.Category == f.Category || similarity() >= SamePlace) {
		return true
	}
	return l.About != nil && l.About.Symbol != "" && l.About.Symbol == f.Symbol && similarity() >= SameClaim
}

func learnedAt(l *precedent.Learning, f *precedent.Finding) bool {
	return l.About != nil && l.About.Place != "" && l.About.Place == f.Place
}

// SameDirective reports whether two learnings say the same: in nearly the same words, of the
// same finding if they speak of one.
func SameDirective(a, b *precedent.Learning, similarity float64) bool {
	return similarity >= EqualDirective && !opposite(a, b) && place(a) == place(b)
}

// Contradict reports whether two learnings for the same files say opposite things about one subject.
func Contradict(a, b *precedent.Learning, similarity float64) bool {
	return similarity >= OneSubject && opposite(a, b)
}

func place(l *precedent.Learning) string {
	if l.About == nil {
		return ""
	}
	return l.About.Place
}

// opposite reports whether one learning asks for what the other one does not want: one lowers
// findings and the other does not, or one of two demands is negative.
func opposite(a, b *precedent.Learning) bool {
	if a.Kind.Quieter() != b.Kind.Quieter() {
		return true
	}
	return !a.Kind.Quieter() && negative().MatchString(a.Directive) != negative().MatchString(b.Directive)
}

var negative = text.Pattern(`(?i)\b(not|never|no|without|avoid|stop|cannot|forbid(den)?|prohibit(ed)?|refuse` +
	`|reject|(do|does|must|should|can)n['’]?t)\b`)
