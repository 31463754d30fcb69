package review

import (
	"path"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/prompt"
	"github.com/precedent-dev/precedent/internal/secret"
)

// smallChange is the number of added and deleted lines up to which one second reader is enough.
const smallChange = 20

// askedFinders returns the prompted finders that the review asks: those that the policy turned on, and of the
// others those whose occasion this change is, or all in a deep review. It reads the whole change: fillDefaults keeps
// the result. Without an engine nobody is asked, so that no occasion is looked for.
func (in *Input) askedFinders() []prompt.Spec {
	var asked []prompt.Spec
	second := 0
	small := in.Change.Added+in.Change.Removed <= smallChange
	unguided := len(in.Guide.Docs)+len(in.Guide.Rules) == 0
	for _, spec := range prompt.Finders() {
		on, said := in.Policy.Finders[spec.Name]
		switch {
		case said && !on, spec.When == prompt.OnRules && unguided:
			continue
		case said, in.Deep, spec.When == prompt.Always:
		case in.Engine == nil, small && second > 0, !in.occasion(spec.When):
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
		return slices.ContainsFunc(in.Change.Files, func(f diff.File) bool { return f.Skip == "" && secret.IsTest(f.Path) })
	case prompt.OnTrust:
		return slices.ContainsFunc(in.Change.Files, touchesTrust)
	}
	return false
}

// trustWords are in text, in small letters, about who may do what, and about places where text from outside is
// interpreted. A few too many cost one request.
var trustWords = strings.Fields("auth login log_in( signin sign_in passw secret credential token session cookie csrf cors permission privilege " +
	"role admin crypt cipher hmac signature certificate tls nonce random sql query( execut( execute( eval( subprocess system( shell spawn( " +
	"innerhtml dangerouslyset deserialis deserializ unmarshal pickle yaml.load upload download redirect http:// https:// request. req. " +
	"filepath. path.join chmod sandbox untrusted sanitiz escap")

// speaksOfTrust reports whether a text has one of trustWords.
func speaksOfTrust(s string) bool {
	small := strings.ToLower(s)
	return slices.ContainsFunc(trustWords, func(word string) bool { return strings.Contains(small, word) })
}

// touchesTrust reports whether a file that is read changes such text, or is part of how the project is built and
// released.
func touchesTrust(f diff.File) bool {
	if f.Skip != "" {
		return false
	}
	if strings.HasPrefix(f.Path, ".github/workflows/") || strings.HasPrefix(strings.ToLower(path.Base(f.Path)),
		"dockerfile") || speaksOfTrust(f.Path) {
		return true
	}
	for i := range f.Hunks {
		for _, l := range f.Hunks[i].Lines {
			if l.Op != diff.Context && speaksOfTrust(l.Text) {
				return true
			}
		}
	}
	return false
}
