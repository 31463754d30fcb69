package lint

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// fixmes reports added lines that mark unfinished work.
func fixmes(ctx context.Context, in *Input) Result {
	c := &collect{name: "fixmes"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		for l := range f.AddedLines() {
			if ctx.Err() != nil {
				return c.result(ctx, nil)
			}
			if !strings.Contains(l.Text, "FIXME") {
				continue
			}
			found := newFinding(f, precedent.Right, l)
			found.Rule, found.Category, found.Severity = "fixme", precedent.Bugs, precedent.Low
			found.Title = title("The change marks unfinished work")
			found.Body = "The line says that something is left to do before the code is right. Do it now, or open an issue " +
				"and name it."
			c.add(found)
		}
	}
	return c.result(ctx, nil)
}

// TestContributing: the analyzer in CONTRIBUTING.md is the one above, and works.
func TestContributing(t *testing.T) {
	guide := needs.Value(os.ReadFile("../../CONTRIBUTING.md"))(t)
	source := needs.Value(os.ReadFile("contributing_test.go"))(t)
	_, section, _ := strings.Cut(string(guide), "\n## Add an analyzer\n")
	_, example, _ := strings.Cut(section, "\n```go\n")
	example, _, _ = strings.Cut(example, "```\n")
	if example == "" || !strings.Contains(string(source), example) {
		t.Errorf("the example of CONTRIBUTING.md is not the analyzer of this file:\n%s", example)
	}
	in := &Input{Change: change("a.go", "+x := 1 // FIXME: too small", " y := 2 // FIXME", "+z := 3")}
	r := fixmes(t.Context(), in)
	same(t, r, "a.go:1 fixme low")
	checkFinding(t, "fixmes", in.Change, r.Findings[0])
}
