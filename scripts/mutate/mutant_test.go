package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

const original = `package a

func f(n int, on bool) (int, error) {
	if n == 0 && on {
		n++
	}
	g(true)
	n = n + 1
	return n, nil
}
`

// TestMutants: each mutant is one change, and parses.
func TestMutants(t *testing.T) {
	all := needs.Value(mutantsOf("a.go", []byte(original)))(t)
	var changes []string
	for _, m := range all {
		changes = append(changes, m.change)
		if _, err := parser.ParseFile(token.NewFileSet(), "a.go", m.source(), 0); err != nil {
			t.Errorf("%s: %v", m.change, err)
		}
	}
	for _, want := range []string{
		`"" → "return *new(int), *new(error);"`, `"n == 0 && on" → "!(n == 0 && on)"`, `"==" → "!="`, `"&&" → "||"`,
		`"n++" → "{}"`, `"g(true)" → "{}"`, `"true" → "false"`, `"n = n + 1" → "{}"`, `"+" → "-"`, `"1" → "2"`,
	} {
		if !slices.Contains(changes, want) {
			t.Errorf("no mutant %s in %q", want, changes)
		}
	}
}

// TestDraw: what else is in the package does not change the keys of mutants, and a seed their order.
func TestDraw(t *testing.T) {
	keys := func(seed uint64, more string) []string {
		t.Helper()
		dir := t.TempDir()
		for name, text := range map[string]string{"a.go": original, "b.go": "package a\n" + more} {
			needs.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		all, err := draw([]pkg{{"./a", dir, []string{"a.go", "b.go"}}}, seed)
		needs.NoError(t, err)
		var of []string
		for _, m := range all {
			if m.function == "f" {
				of = append(of, m.key)
			}
		}
		return of
	}
	one := keys(1, "")
	if more := keys(1, "func h() { g() }\n"); !slices.Equal(one, more) {
		t.Errorf("%q and %q", one, more)
	}
	if other := keys(2, ""); slices.Equal(one, other) {
		t.Error("another seed draws the same")
	}
}
