package prompt

import (
	"strings"

	"github.com/precedent-dev/precedent"
)

// Spec is a prompted finder: one row of Finders. A policy turns it on or off by name; else When
// says whether it runs.
type Spec struct {
	Name     string             // what a policy turns on and off; finders/<name>.md holds its role
	Category precedent.Category // of its findings that name none
	Title    string             // of its assignment
	// Blind finders do not see what the author says about the change, because words such
	// as "harmless clean-up" make reviewers miss defects.
	Blind bool
	// When says for which changes it runs if no policy and no command decides it.
	When When
	// Praise asks the finder to name what the change does best. The caller sets it for
	// one finder.
	Praise bool
}

// When says for which changes a finder runs unasked. All but Always are second readers, which run for
// every change if a deep review is asked for.
type When string

// The occasions, in words for people.
const (
	Always  When = "always"
	OnTrust When = "if the change touches what decides who may do what, or what outsiders send"
	OnRules When = "if the repository's guide has rules"
	OnTests When = "if the change touches tests"
	OnDeep  When = "in a deep review"
)

// Finders lists the prompted finders in the order in which they start: those that find
// what matters most come first, in case a budget ends the review early.
func Finders() []Spec {
	return []Spec{
		{Name: "general", Category: precedent.Bugs, Title: "the whole change", When: Always},
		{Name: "bugs", Category: precedent.Bugs, Title: "bugs", When: OnDeep},
		{Name: "security", Category: precedent.Security, Title: "security", Blind: true, When: OnTrust},
		{Name: "types", Category: precedent.Types, Title: "types and contracts", When: OnDeep},
		{Name: "performance", Category: precedent.Performance, Title: "performance", When: OnDeep},
		{Name: "architecture", Category: precedent.Architecture, Title: "architecture", When: OnDeep},
		{Name: "tests", Category: precedent.Tests, Title: "tests", When: OnTests},
		{Name: "style", Category: precedent.Style, Title: "readability", When: OnDeep},
		{Name: "guidelines", Category: precedent.Guidelines, Title: "the team's guidelines", When: OnRules},
	}
}

// role returns what the finder looks for.
func (s Spec) role() string { return strings.TrimSpace(load("finders/" + s.Name + ".md")) }
