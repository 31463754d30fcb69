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
	const zero = "func Zero() string { return Find(0).Name }"
	const none = precedent.NoEvidence
	for _, test := range []struct {
		name, path   string
		start        int
		quote, cause string // the line that breaks, and the one in user.go that causes it
		dropped      precedent.Dropped
		at, says     string
	}{
		{"in another file", "page.go", 90, breaks, cause, "", "user.go:4", "page.go:4"},
		{"in the same file, far away", "user.go", 90, zero, cause, "", "user.go:4", "user.go:27"},
		{"in the diff", "user.go", 3, "func Find(id int) *User {", cause, "", "user.go:3", ""},
		{"nowhere", "page.go", 4, "\treturn Find(id).Email", cause, none, "", ""},
		{"nowhere in the repository", "../../etc/passwd", 4, "root:x:0:0", cause, none, "", ""},
		{"by nothing", "page.go", 4, breaks, "\treturn cache.get(id)", none, "", ""},
		{"by an old line", "page.go", 4, breaks, "func Find(id int) *User {", precedent.UnchangedCode, "user.go:3", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := input(t, base, head)
			in.Engine = answering(finding(test.path, test.start, test.quote, "t", object{
				"caused_by":  object{"path": "user.go", "side": "RIGHT", "line": 90, "quote": test.cause},
				"suggestion": "\treturn \"\"",
			}))
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
		})
	}
}
