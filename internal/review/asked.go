package review

import (
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// smallChange is the number of added and deleted lines up to which one second reader is enough.
const smallChange = 20

// askedFinders returns the prompted finders that the review asks: those that the policy turned on, and of the
// others those whose occasion this change is, or all in a deep review.
func (in *Input) askedFinders() []prompt.Spec {
	var asked []prompt.Spec
	second := 0
	small := in.Change.Added+in.Change.Removed <= smallChange
	for _, spec := range prompt.Finders() {
		on, said := in.Policy.Finders[spec.Name]
		switch {
		case said && !on, spec.When == prompt.OnRules && in.unguided():
			continue
		case said, in.Deep, spec.When == prompt.Always:
		case small && second > 0, !in.occasion(spec.When):
			continue
		}
		if spec.When != prompt.Always {
			second++
		}
		asked = append(asked, spec)
	}
	return asked
}

// occasion reports whether the change is one for which second readers of a kind run unasked.
func (in *Input) occasion(when prompt.When) bool {
	switch when {
	case prompt.OnRules:
		return len(in.Guide.Rules) > 0
	case prompt.OnTests:
		return slices.ContainsFunc(in.Change.Files, func(f diff.File) bool { return f.Skip == "" && isTest(f.Path) })
	case prompt.OnTrust:
		return slices.ContainsFunc(in.Change.Files, touchesTrust)
	}
	return false
}

// isTest reports whether a path is that of a test by the habits of common languages.
func isTest(name string) bool {
	base := strings.ToLower(path.Base(name))
	stem := strings.TrimSuffix(base, path.Ext(base))
	for _, mark := range []string{"_test", "_spec", ".test", ".spec", "-test", "tests"} {
		if strings.HasSuffix(stem, mark) {
			return true
		}
	}
	if strings.HasPrefix(stem, "test_") || strings.HasSuffix(strings.TrimSuffix(path.Base(name), path.Ext(name)), "Test") {
		return true
	}
	return slices.ContainsFunc(strings.Split(strings.ToLower(path.Dir(name)), "/"), func(dir string) bool {
		return slices.Contains([]string{"test", "tests", "spec", "__tests__", "e2e"}, dir)
	})
}

// trustWords match text about who may do what, and about places where text from outside is interpreted. A few
// too many cost one request.
var trustWords = lazily(`(?i)auth|log_?in\b|log_?in_|sign_?in|passw|secret|credential|token|session|cookie|csrf|cors\b|permission|privilege|\brole|` +
	`admin|crypt|cipher|hmac|signature|certificate|\btls\b|nonce|random|` +
	`\bsql\b|query\(|execute?\(|\beval\(|subprocess|system\(|shell|spawn\(|innerhtml|dangerouslyset|deseriali[sz]|` +
	`unmarshal|pickle|yaml\.load|upload|download|redirect|https?://|request\.|req\.|filepath\.|path\.join|chmod|` +
	`sandbox|untrusted|sanitiz|escap`)

// touchesTrust reports whether a file that is read changes such text, or is part of how the project is built and
// released.
func touchesTrust(f diff.File) bool {
	if f.Skip != "" {
		return false
	}
	if strings.HasPrefix(f.Path, ".github/workflows/") || strings.HasPrefix(strings.ToLower(path.Base(f.Path)), "dockerfile") ||
		trustWords().MatchString(f.Path) {
		return true
	}
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Op != diff.Context && trustWords().MatchString(l.Text) {
				return true
			}
		}
	}
	return false
}
