package secret

import (
	"regexp"
	"strings"
	"sync"
)

// allowlist describes what is not a secret. Its fields are those of the configuration.
type allowlist struct {
	Condition   string   // AND or &&: all given criteria must match; else one of regexes and stop words
	Paths       []string // used only with AND
	RegexTarget string   // "match" or "line"; else the secret
	Regexes     []string
	StopWords   []string

	// compiled; nil if not given
	path, expr *regexp.Regexp
	words      *keywords
}

// compileAllow compiles the lists on first use. An empty list allows nothing.
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

// compileAny joins expressions as gitleaks does: a flag in one applies to those after it.
func compileAny(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nil
	}
	return regexp.MustCompile("(?:" + strings.Join(patterns, "|") + ")")
}

func (a *allowlist) needsAll() bool {
	return strings.EqualFold(a.Condition, "AND") || a.Condition == "&&"
}

// allows reports whether the list excludes a secret. target is what the expressions are matched against.
func (a *allowlist) allows(path, target, secret string) bool {
	all := a.needsAll()
	if all && a.path != nil && (path == "" || !a.path.MatchString(path)) {
		return false
	}
	word := false
	if a.words != nil {
		for range a.words.find(secret) {
			word = true
			break
		}
		if word != all {
			return word
		}
	}
	return a.expr == nil && all || a.expr != nil && target != "" && a.expr.MatchString(target)
}
