package memory

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Effect says in sentences for the person who dismissed something what reviews do from now
// on: how far the dismissal reaches, what stays shown, and until when.
func Effect(j precedent.Dismissal) []string {
	const shown = "High and critical findings, and those about security, secrets, data loss, crashes and races, stay shown"
	until := fmt.Sprintf("It holds until %s, and again for %d days each time it hides something.",
		j.ExpiresAt.UTC().Format(time.DateOnly), int(store.DismissalLife.Hours()/24))
	if j.Rule != "" {
		where := "in the whole repository"
		if j.Glob != "" {
			where = "in " + j.Glob
		}
		return []string{fmt.Sprintf("Reviews hide findings of %s %s. %s.", strings.TrimPrefix(described(j.Rule), "the rule "),
			where, shown), until}
	}
	own := "Reviews hide this finding at this place, also in other words, and list it as hidden."
	verb := fmt.Sprintf("It counts against %s: a second such dismissal hides them.", Reach(j))
	if Never(j.Reason) {
		verb = fmt.Sprintf("They also hide %s.", Reach(j))
	}
	return []string{own + " " + verb + " " + shown + ", except this one.", until}
}

// Reach says how far the dismissal of a finding reaches beyond it.
func Reach(j precedent.Dismissal) string {
	if j.Glob != "" {
		return "similar findings in " + j.Glob
	}
	switch ScopeOf(j.Reason) {
	case InRepo:
		return "similar findings in the whole repository"
	case InDirectory:
		dir := path.Dir(j.Path)
		if dir == "." {
			return "similar findings in the top folder"
		}
		return "similar findings in " + dir + "/"
	}
	if j.Symbol != "" {
		return "similar findings in " + j.Symbol + " of " + j.Path
	}
	return "similar findings in " + j.Path + " for which no function is known"
}
