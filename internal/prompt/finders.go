package prompt

import (
	"strings"

	"github.com/precedent-dev/precedent"
)

// Spec is a prompted finder: one row of Finders. It runs unless a policy turns
// it off.
type Spec struct {
	Name     string             // what a policy turns on and off; finders/<name>.md holds its role
	Category precedent.Category // of its findings that name none
	Title    string             // of its assignment
	// Blind finders do not see what the author says about the change, because words such
	// as "harmless clean-up" make reviewers miss defects.
	Blind bool
	// NeedsGuide finders have nothing to do without a guide.
	NeedsGuide bool
	// Praise asks the finder to name what the change does best. The caller sets it for
	// one finder.
	Praise bool
}

// Finders lists the prompted finders in the order in which they start: those that find
// what matters most come first, in case a budget ends the review early.
func Finders() []Spec {
	return []Spec{
		{Name: "bugs", Category: precedent.Bugs, Title: "bugs"},
		{Name: "security", Category: precedent.Security, Title: "security", Blind: true},
		{Name: "types", Category: precedent.Types, Title: "types and contracts"},
		{Name: "performance", Category: precedent.Performance, Title: "performance"},
		{Name: "architecture", Category: precedent.Architecture, Title: "architecture"},
		{Name: "tests", Category: precedent.Tests, Title: "tests"},
		{Name: "style", Category: precedent.Style, Title: "readability"},
		{Name: "guidelines", Category: precedent.Guidelines, Title: "the team's guidelines", NeedsGuide: true},
	}
}

// role returns what the finder looks for.
func (s Spec) role() string { return strings.TrimSpace(load("finders/" + s.Name + ".md")) }
