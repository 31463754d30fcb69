package chat

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

var docRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|[^|]+\\|([a-z ]*)\\|$")

// TestDocs: docs/comments.md has every kind, its examples are commands, and its scopes are
// right.
func TestDocs(t *testing.T) {
	doc, err := os.ReadFile("../../docs/comments.md")
	needs.NoError(t, err)
	shown := map[Kind]bool{}
	for _, m := range docRow.FindAllStringSubmatch(string(doc), -1) {
		commands, refusals := Parse(precedent.Untrusted(m[1]), Options{InThread: true})
		if len(commands) != 1 || len(refusals) > 0 || commands[0].Kind == FreeText {
			t.Errorf("%q: %+v, %+v", m[1], commands, refusals)
			continue
		}
		shown[commands[0].Kind] = true
		if scope := strings.ReplaceAll(string(commands[0].Scope), "_", " "); scope != strings.TrimSpace(m[2]) {
			t.Errorf("%q: the scope is %q, not%q", m[1], scope, m[2])
		}
	}
	for i := range triggers {
		if !shown[triggers[i].kind] {
			t.Errorf("%s is missing", triggers[i].kind)
		}
	}
}
