package memory

import (
	"testing"
)

func TestScopeOf(t *testing.T) {
	for reason, want := range map[string]Scope{
		"":                                InSymbol,
		"intended here":                   InSymbol,
		"we don't do this here":           InDirectory,
		"We don’t wrap errors here":       InDirectory,
		"fine in this package":            InDirectory,
		"generated; not in these folders": InDirectory,
		"never in this repo":              InRepo,
		"not for the whole project":       InRepo,
		"we don't do this in our code base, not even here": InRepo,
		"a repo-wide decision":                             InRepo,
		// Words that only look like a scope.
		"this repo's linter checks it":      InSymbol,
		"the middleware in this repo's web": InSymbol,
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
		"never":                         true,
		"never in this repo":            true,
		"never flag this":               true,
		"NEVER AGAIN":                   true,
		"":                              false,
		"err is never nil here":         false,
		"never mind, the caller checks": false,
		"nevertheless flag this":        false,
	} {
		if got := Never(reason); got != want {
			t.Errorf("Never(%q) = %v, want %v", reason, got, want)
		}
	}
}
