package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDoLess finds tests that ask by themselves, through a function, through a method of a variable,
// and leaves out the others.
func TestDoLess(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a_test.go": `package a
func TestRounds(t *testing.T) { for range needs.Rounds(5, 2) { one(t) } }
func TestNothing(t *testing.T) { one(t); needs.Missing(t, "", "") }
func TestThrough(t *testing.T) { t.Run("x", func(t *testing.T) { helper(t) }) }
func FuzzTable(f *testing.F) { for _, c := range cases { c.run(f) } }
func one(t *testing.T) {}
`,
		"b_test.go": `package a
func helper(t *testing.T) { process{}.start(t) }
func (process) start(t *testing.T) { needs.Self(t) }
var cases = []struct{ run func(testing.TB) }{{func(t testing.TB) { needs.WithoutRace(t, "") }}}
`,
		"c.go": "package a\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := doLess(dir)
	slices.Sort(got)
	if want := []string{"FuzzTable", "TestRounds", "TestThrough"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "d_test.go"), []byte("package a\nfunc init() { n = needs.Rounds(5, 2) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := doLess(dir); err == nil {
		t.Errorf("%q although the number is set for all tests", got)
	}
}

// TestAgainPattern: a package whose tests all do the same is not tested twice.
func TestAgainPattern(t *testing.T) {
	if pattern, err := againPattern([]string{"../../internal/post"}); err != nil || pattern == "^()$" {
		t.Errorf("%q, %v", pattern, err)
	}
	if pattern, err := againPattern([]string{"../../internal/label"}); err == nil {
		t.Errorf("%q for a package without such tests", pattern)
	}
}
