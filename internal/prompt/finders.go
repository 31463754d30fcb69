package prompt

import (
	"strings"

	"github.com/precedent-dev/precedent"
)

// Spec is a prompted finder: one row of Finders.
type Spec struct {
	Name     string             // what a policy turns on and off; finders/<name>.md holds its role
	Category precedent.Category // of its findings that name none
	Title    string             // of its assignment
	// Blind finders do not see what the author says about the change: words
	// such as "harmless clean-up" make reviewers miss what is there.
	Blind bool
}

// Finders lists the prompted finders in the order in which they start.
func Finders() []Spec {
	return []Spec{
		{Name: "bugs", Category: precedent.Bugs, Title: "bugs"},
	}
}

// role is what the finder looks for.
func (s Spec) role() string { return strings.TrimSpace(load("finders/" + s.Name + ".md")) }
