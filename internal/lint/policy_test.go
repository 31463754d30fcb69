package lint

import (
	"path"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
)

func TestPolicyEdit(t *testing.T) {
	status := func(s diff.Status, c *diff.Change) *diff.Change {
		c.Files[0].Status = s
		return c
	}
	renamed := status(diff.Renamed, change("docs/notes.md"))
	renamed.Files[0].OldPath = "AGENTS.md"
	for _, test := range []struct {
		name   string
		change *diff.Change
		want   []string
		side   precedent.Side
		title  string
	}{
		{"other file", change("a.go", "+x"), nil, "", ""},
		{
			"edit", change("CLAUDE.md", "@@7", " a", "-b", "+c", "+d"),
			[]string{"CLAUDE.md:8 policy-edit medium"},
			precedent.Right,
			"The change edits CLAUDE.md: instructions for assistants",
		},
		{
			"only deletions", change("pkg/AGENTS.md", "@@3", " a", "-b", " c"),
			[]string{"pkg/AGENTS.md:4 policy-edit medium"},
			precedent.Left,
			"The change edits AGENTS.md: instructions for assistants",
		},
		{
			"added", added(".mcp.json", "{}\n"),
			[]string{".mcp.json:1 policy-edit medium"},
			precedent.Right,
			"The change adds .mcp.json: tool servers of coding agents",
		},
		{
			"deleted", status(diff.Deleted, change("CODEOWNERS", "-* @team")),
			[]string{"CODEOWNERS policy-edit medium"},
			precedent.Left,
			"The change deletes CODEOWNERS: who must approve",
		},
		{
			"mode only", change(".precedent.yaml"),
			[]string{".precedent.yaml policy-edit medium"},
			precedent.Right,
			"The change edits .precedent.yaml: the review policy",
		},
		{
			"renamed away", renamed,
			[]string{"docs/notes.md policy-edit medium"},
			precedent.Right,
			"The change renames AGENTS.md: instructions for assistants",
		},
		{
			"guide", change("CONTRIBUTING.md", "+x"),
			[]string{"CONTRIBUTING.md:1 policy-edit medium"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"any other", change(".claude/settings.json", "+x"),
			[]string{".claude/settings.json:1 policy-edit medium"},
			precedent.Right,
			"The change edits settings.json: instructions for reviews or assistants",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			steering := func(p string) bool {
				return strings.Contains("CLAUDE.md AGENTS.md .mcp.json CODEOWNERS .precedent.yaml CONTRIBUTING.md settings.json", path.Base(p))
			}
			r := run(t, "policy-edit", &Input{Change: test.change, IsPolicyPath: steering})
			same(t, r, test.want...)
			for _, f := range r.Findings {
				if f.Side != test.side || f.Title != test.title || f.Category != precedent.PolicyEdit {
					t.Errorf("side %s, category %s, title %q", f.Side, f.Category, f.Title)
				}
				if !strings.Contains(f.Body, "takes effect when the change is merged") {
					t.Errorf("body %q", f.Body)
				}
			}
		})
	}
}
