package memory

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

func TestScopeOf(t *testing.T) {
	for reason, want := range map[string]Scope{
		"":                                InSymbol,
		"intended here":                   InSymbol,
		"This is intentional.":            InSymbol,
		"false positive":                  InSymbol,
		"the caller checks it":            InSymbol,
		"we don't do this here":           InDirectory,
		"We do not do this here.":         InDirectory,
		"We don’t wrap errors here":       InDirectory,
		"we never check that here":        InDirectory,
		"fine in this package":            InDirectory,
		"generated; not in these folders": InDirectory,
		"never in this repo":              InRepo,
		"Never in this repository!":       InRepo,
		"not for the whole project":       InRepo,
		"we don't do this in our code base, not even here": InRepo,
		"a repo-wide decision":                             InRepo,
		// Words that only look like a scope.
		"this repo's linter checks it":      InSymbol,
		"the middleware in this repo's web": InSymbol,
		"here be dragons":                   InSymbol,
		"we don't. It is here":              InSymbol,
		"in this repositories_test helper":  InSymbol,
	} {
		if got := ScopeOf(reason); got != want {
			t.Errorf("ScopeOf(%q) = %s, want %s", reason, got, want)
		}
	}
}

func TestNever(t *testing.T) {
	for reason, want := range map[string]bool{
		"never":                             true,
		"Never!":                            true,
		"never in this repo":                true,
		"Never in this package, please":     true,
		"never flag this":                   true,
		"please never mention that again":   true,
		"NEVER AGAIN":                       true,
		"":                                  false,
		"intended here":                     false,
		"err is never nil here":             false,
		"this never happens in production":  false,
		"never mind, the caller checks":     false,
		"nevertheless flag this":            false,
		"we never use the default timeout":  false,
		"it is never in this state":         false,
		"the lock is never held by readers": false,
	} {
		if got := Never(reason); got != want {
			t.Errorf("Never(%q) = %v, want %v", reason, got, want)
		}
	}
}

// TestReaches: a symbol has none of its file's others; a folder has what is below it, and nothing else whose path begins like its own; the root has only its files.
func TestReaches(t *testing.T) {
	for _, test := range []struct {
		scope            Scope
		path, symbol     string // of the dismissal
		atPath, atSymbol string // of the finding
		want             bool
	}{
		{InSymbol, "a/b.go", "F", "a/b.go", "G", false},
		{InDirectory, "a/b.go", "F", "a/sub/c.go", "F", true},
		{InDirectory, "a/b.go", "F", "ab/c.go", "F", false},
		{InDirectory, "b.go", "F", "c.go", "F", true},
		{InDirectory, "b.go", "F", "a/c.go", "F", false},
	} {
		f := &precedent.Finding{Span: precedent.Span{Path: test.atPath}, Symbol: test.atSymbol}
		if got := test.scope.includes(test.path, test.symbol, f); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
