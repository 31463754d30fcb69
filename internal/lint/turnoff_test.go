package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestTurnOffs: which lines a comment counts for.
func TestTurnOffs(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{ // the lines of a finding of printf
		{"none", "package a\n\nfunc f() {\n\tg()\n}\n", "[]"},
		{"bare", "package a\n\nvar x = 1 //nolint\nvar y = 2", "[3]"},
		{"with a space", "package a\n\nvar x = 1 // nolint:govet", "[3]"},
		{"all", "package a\n\nvar x = 1 //nolint:all", "[3]"},
		{"named", "package a\n\nvar x = 1 //nolint:errcheck, govet // because", "[3]"},
		{"another one", "package a\n\nvar x = 1 //nolint:errcheck", "[]"},
		{"the check", "package a\n\nvar x = 1 //nolint:printf", "[3]"},
		{"no directive", "package a\n\nvar x = 1 //nolinting", "[]"},
		{"in a string", "package a\n\nvar x = `\n//nolint\n`", "[]"},
		{"declaration", "package a\n\n//nolint:govet\nfunc f() {\n\tg()\n}\n\nvar y = 1", "[3 4 5 6]"},
		{"statement", "package a\n\nfunc f() {\n\t//nolint:govet\n\tif x {\n\t\tg()\n\t}\n\tg()\n}", "[4 5 6 7]"},
		{"another column", "package a\n\nfunc f() {\n//nolint:govet\n\tif x {\n\t\tg()\n\t}\n}", "[4 5]"},
		{"file", "//nolint:govet\npackage a\n\nvar x = 1", "[1 2 3 4]"},
		{"broken file", "package a\n\nvar x = 1 //nolint\nfunc {", "[3]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := []int{}
			all := turnOffsIn([]byte(test.text))
			for n := range strings.Count(test.text, "\n") + 2 {
				if slices.ContainsFunc(all, func(c turnOff) bool { return c.counts("printf", n+1) }) {
					lines = append(lines, n+1)
				}
			}
			needs.Equal(t, test.want, fmt.Sprint(lines))
		})
	}
}

// TestNotTurnedOff: no comment silences the other analyzers.
func TestNotTurnedOff(t *testing.T) {
	key := awsKey(1)
	for name, text := range map[string]string{
		"secrets":          `k := "` + key + `" //nolint // #nosec G101 gitleaks:allow noqa`,
		"unicode":          "valid\u0430te() //nolint //lint:ignore all because",
		"conflict-markers": "<<<<<<< HEAD //nolint\n=======\n>>>>>>> x //nolint",
	} {
		r := run(t, name, &Input{Change: added("a.go", "//nolint:all\npackage a\n"+text)})
		if len(r.Findings) != 1 || !r.Findings[0].Live() {
			t.Errorf("%s: %v", name, brief(r))
		}
	}
}
