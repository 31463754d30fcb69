package review

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestCausedBy: a defect on a line that the change does not touch is shown on the changed
// line that causes it, if both are there.
func TestCausedBy(t *testing.T) {
	base := files{
		"user.go": "package app\n\nfunc Find(id int) *User {\n\treturn users[id].must()\n}\n" +
			strings.Repeat("\nvar _ = 1\n", 10) + "\nfunc Zero() string { return Find(0).Name }\n",
		"page.go": "package app\n\nfunc Page(id int) string {\n\treturn Find(id).Name\n}\n",
	}
	head := files{"user.go": strings.Replace(base["user.go"], ".must()", "", 1), "page.go": base["page.go"]}
	const cause, breaks = "\treturn users[id]", "\treturn Find(id).Name"
	caused := func(path, quote string) map[string]any {
		return map[string]any{
			"caused_by":  map[string]any{"path": path, "side": "RIGHT", "line": 90, "quote": quote},
			"suggestion": "\treturn \"\"",
		}
	}
	for _, test := range []struct {
		name     string
		finding  map[string]any
		dropped  precedent.Dropped
		at, says string
	}{
		{"in another file", finding("page.go", 90, breaks, "t", caused("user.go", cause)), "", "user.go:4", "page.go:4"},
		{"in the same file, far away", finding("user.go", 90, "func Zero() string { return Find(0).Name }", "t",
			caused("user.go", cause)), "", "user.go:4", "user.go:27"},
		{
			"in the diff", finding("user.go", 3, "func Find(id int) *User {", "t", caused("user.go", cause)), "", "user.go:3",
			"",
		},
		{
			"nowhere", finding("page.go", 4, "\treturn Find(id).Email", "t", caused("user.go", cause)), precedent.NoEvidence, "",
			"",
		},
		{
			"nowhere in the repository", finding("../../etc/passwd", 4, "root:x:0:0", "t", caused("user.go", cause)),
			precedent.NoEvidence, "", "",
		},
		{
			"by nothing", finding("page.go", 4, breaks, "t", caused("user.go", "\treturn cache.get(id)")), precedent.NoEvidence,
			"", "",
		},
		{
			"by an unchanged line", finding("page.go", 4, breaks, "t", caused("user.go", "func Find(id int) *User {")),
			precedent.UnchangedCode, "user.go:3", "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, base, head)
			in.Engine = answering(test.finding)
			f := byTitle(t, run(t, in), "t")
			if f.Dropped != test.dropped || test.at != "" && f.String() != test.at {
				t.Fatalf("dropped %q at %s: %s", f.Dropped, f.Span, says(f))
			}
			if test.dropped != "" {
				return
			}
			got := ""
			if f.Breaks.Path != "" {
				got = f.Breaks.String()
			}
			if got != test.says || f.Placement != precedent.Inline || f.Suggestion != "" {
				t.Errorf("breaks %q, %s, suggestion %q", got, f.Placement, f.Suggestion)
			}
			direct := input(t, base, head)
			direct.Engine = answering(finding("user.go", f.Start, f.Quote, "t", nil))
			if g := byTitle(t, run(t, direct), "t"); g.ID != f.ID {
				t.Errorf("id %s, and %s if it is reported at its cause", f.ID, g.ID)
			}
		})
	}
}
