package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
)

// Linters are the external ones that run: those that the operator named, then those
// that the repository's policy names, which may choose among the known ones and
// nothing else. The failures are names that nobody knows.
func Linters(named []lint.Linter, p precedent.Policy) ([]lint.Linter, []precedent.Failure) {
	all := slices.Clone(named)
	var failures []precedent.Failure
	for _, name := range p.Linters {
		if slices.ContainsFunc(all, func(l lint.Linter) bool { return l.Name == name }) {
			continue
		}
		if l, ok := lint.Preset(name); ok {
			all = append(all, l)
		} else {
			failures = append(failures, precedent.Failure{
				Step: "policy", Error: fmt.Sprintf("linters: no linter %q is known; known: %s", name, strings.Join(lint.PresetNames(), ", ")),
			})
		}
	}
	return all, failures
}
