package match

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

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
