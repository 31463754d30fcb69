package secret

import (
	"regexp"
	"strings"
	"sync"
)

// allowlist says what is not a secret. Its fields are the configuration's.
type allowlist struct {
	Condition   string   // AND or &&: all that is given must hold; else one of regexes and stop words
	Paths       []string // counts with AND alone
	RegexTarget string   // "match", "line"; else the secret
	Regexes     []string
	StopWords   []string

	// compiled; nil for what is not given
	path, expr *regexp.Regexp
	words      *keywords
}

// compileAllow compiles the lists when they are first needed. An empty list
// allows nothing.
func compileAllow(lists []allowlist) func() []allowlist {
	return sync.OnceValue(func() []allowlist {
		var all []allowlist
		for _, a := range lists {
			a.path, a.expr = compileAny(a.Paths), compileAny(a.Regexes)
			if len(a.StopWords) > 0 {
				a.words = &keywords{}
			}
			for i, w := range a.StopWords {
				a.words.add(w, i)
			}
			if a.path != nil || a.expr != nil || a.words != nil {
				all = append(all, a)
			}
		}
		return all
	})
}

// compileAny is gitleaks' way to join expressions: a flag in one of them holds
// for those that follow.
func compileAny(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nil
	}
	return regexp.MustCompile("(?:" + strings.Join(patterns, "|") + ")")
}

func (a *allowlist) needsAll() bool {
	return strings.EqualFold(a.Condition, "AND") || a.Condition == "&&"
}

// allows tells whether the list excuses a secret; target is what the expressions are for.
func (a *allowlist) allows(path, target, secret string) bool {
	word := false
	if a.words != nil {
		for range a.words.find(secret) {
			word = true
			break
		}
	}
	expr := a.expr != nil && target != "" && a.expr.MatchString(target)
	if !a.needsAll() {
		return word || expr
	}
	return (a.path == nil || path != "" && a.path.MatchString(path)) && (a.expr == nil || expr) && (a.words == nil || word)
}
