package lint

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSilencer(t *testing.T) {
	t.Parallel()
	const vet, check = vetSuite, staticSuite
	for _, test := range []struct {
		name, code string // the diagnostic is about the second line
		suite      suite
		rule       string
		want       bool
	}{
		{"nothing", "a\nb\n", vet, "printf", false},
		{"all", "a\nb //nolint\n", vet, "printf", true},
		{"all, with a reason", "a\nb //nolint // wrong on purpose\n", check, "SA4006", true},
		{"its suite", "a\nb //nolint:govet,errcheck // on purpose\n", vet, "printf", true},
		{"with a space", "a\nb // nolint: errcheck, staticcheck\n", check, "SA4006", true},
		{"its rule", "a\nb //nolint:SA4006\n", check, "SA4006", true},
		{"another linter", "a\nb //nolint:errcheck\n", vet, "printf", false},
		{"the other suite", "a\nb //nolint:staticcheck\n", vet, "printf", false},
		{"line before", "\t//nolint:govet\nb\n", vet, "printf", true},
		{"code on the line before", "x() //nolint:govet\nb\n", vet, "printf", false},
		{"check of staticcheck", "//lint:ignore SA1019 no replacement yet\nb\n", check, "SA1019", true},
		{"checks with a wildcard", "//lint:ignore S1000,SA1* old\nb\n", check, "SA1019", true},
		{"without a reason", "//lint:ignore SA1019\nb\n", check, "SA1019", false},
		{"other check", "//lint:ignore SA1018 old\nb\n", check, "SA1019", false},
		{"whole file", "a\nb\nc\n//lint:file-ignore SA1019 old\n", check, "SA1019", true},
		{"longer word", "a\nb //nolintfoo\n", vet, "printf", false},
		{"no such line", "", vet, "printf", false},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte(test.code), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newSilencer(dir).silent("a.go", 2, test.suite, test.rule); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestSilenced checks that the comments count in a review.
func TestSilenced(t *testing.T) {
	in := goInput(t, goEnv(t), "-- go.mod --\nmodule example.org/p\n\ngo 1.25\n-- a.go --\npackage p\n\nimport \"fmt\"\n\nfunc f(x int) {\n\tfmt.Printf(\"%d\\n\", \"x\")\n\tfmt.Printf(\"%d\\n\", \"y\") //nolint:govet // shows the error\n}\n")
	vet, _ := bothGo(t, in)
	same(t, vet, "a.go:6 printf medium")
}

func TestGoConfidence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		suite      suite
		rule, path string
		want       int
	}{
		{vetSuite, "printf", "a.go", goTestSure},
		{vetSuite, "printf", "a_test.go", goTestSure},
		{vetSuite, "copylocks", "a.go", vetSure},
		{vetSuite, "copylocks", "a_test.go", vetSure - inTest},
		{vetSuite, "composites", "a.go", 30},
		{staticSuite, "SA1000", "a.go", staticError},
		{staticSuite, "SA4006", "a.go", staticWarning},
		{staticSuite, "SA4006", "a_test.go", staticWarning - inTest},
		{staticSuite, "SA3001", "a_test.go", staticError},
		{staticSuite, "SA1019", "a.go", 60},
	} {
		if got := confidenceOf(test.suite, test.rule, test.path); got != test.want {
			t.Errorf("%s in %s: %d, want %d", test.rule, test.path, got, test.want)
		}
	}
	for rule := range goConfidence {
		if staticChecks()[rule] == nil && vetTable[rule].why == "" {
			t.Errorf("%s is no rule", rule)
		}
	}
}
