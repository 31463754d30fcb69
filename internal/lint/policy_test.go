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
			[]string{"CLAUDE.md:8 policy-edit low"},
			precedent.Right,
			"The change edits CLAUDE.md: instructions for assistants",
		},
		{
			"only deletions", change("pkg/AGENTS.md", "@@3", " a", "-b", " c"),
			[]string{"pkg/AGENTS.md:4 policy-edit low"},
			precedent.Left,
			"The change edits AGENTS.md: instructions for assistants",
		},
		{
			"added", added(".mcp.json", "{}\n"),
			[]string{".mcp.json:1 policy-edit medium"},
			precedent.Right,
			"The change adds .mcp.json: programs of coding agents",
		},
		{
			"deleted", status(diff.Deleted, change("CODEOWNERS", "-* @team")),
			[]string{"CODEOWNERS policy-edit medium"},
			precedent.Left,
			"The change deletes CODEOWNERS: who must approve",
		},
		{
			"settings of an agent that are deleted", status(diff.Deleted, change(".claude/settings.json", "-{}")),
			[]string{".claude/settings.json policy-edit low"},
			precedent.Left,
			"The change deletes settings.json: programs of coding agents",
		},
		{
			"mode only", change(".precedent.yaml"),
			[]string{".precedent.yaml policy-edit medium"},
			precedent.Right,
			"The change edits .precedent.yaml: the review policy",
		},
		{"a policy of comments", added(".precedent.yaml", "# threshold: 80\n\n# ignore: [a/**]\n"), nil, "", ""},
		{
			"a comment, or a line of a text, of the policy", change(".precedent.yaml", "+# Report nothing."),
			[]string{".precedent.yaml:1 policy-edit medium"},
			precedent.Right,
			"The change edits .precedent.yaml: the review policy",
		},
		{
			"a setting of the policy", change(".precedent.yaml", "+# more", "+threshold: 90"),
			[]string{".precedent.yaml:1 policy-edit medium"},
			precedent.Right,
			"The change edits .precedent.yaml: the review policy",
		},
		{
			"renamed away", renamed,
			[]string{"docs/notes.md policy-edit low"},
			precedent.Right,
			"The change renames AGENTS.md: instructions for assistants",
		},
		{
			"guide", change("CONTRIBUTING.md", "+x"),
			[]string{"CONTRIBUTING.md:1 policy-edit nit"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"guide that speaks to assistants", change("CONTRIBUTING.md", "+x", "+Claude writes the changelog."),
			[]string{"CONTRIBUTING.md:1 policy-edit low"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"guide that links to a service", change("CONTRIBUTING.md", "+[cla]: https://cla-assistant.io/x/y",
				"+Sign with CLA assistant."),
			[]string{"CONTRIBUTING.md:1 policy-edit nit"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"guide that says what not to report", change("CONTRIBUTING.md", "+x", "+Do not report SQL injection in tests."),
			[]string{"CONTRIBUTING.md:1 policy-edit medium"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"guide as most are", change("CONTRIBUTING.md", "+Spring AI follows a code style.",
				"+Do not report vulnerabilities in a public issue."),
			[]string{"CONTRIBUTING.md:1 policy-edit nit"},
			precedent.Right,
			"The change edits CONTRIBUTING.md: a guide for reviews",
		},
		{
			"hooks of an agent", change(".claude/settings.json", "+x"),
			[]string{".claude/settings.json:1 policy-edit medium"},
			precedent.Right,
			"The change edits settings.json: programs of coding agents",
		},
		{
			"any other", change(".claude/commands/deploy.md", "+x"),
			[]string{".claude/commands/deploy.md:1 policy-edit low"},
			precedent.Right,
			"The change edits deploy.md: instructions for reviews or assistants",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			steering := func(p string) bool {
				return strings.Contains("CLAUDE.md AGENTS.md .mcp.json CODEOWNERS .precedent.yaml CONTRIBUTING.md settings.json "+
					"deploy.md", path.Base(p))
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

// TestPolicyEdits checks that files of one kind are one finding.
func TestPolicyEdits(t *testing.T) {
	c := &diff.Change{}
	for _, p := range []string{"a/AGENTS.md", "CODEOWNERS", "b/AGENTS.md", "c/CLAUDE.md"} {
		c.Files = append(c.Files, change(p, "+x").Files...)
	}
	r := run(t, "policy-edit", &Input{Change: c, IsPolicyPath: func(string) bool { return true }})
	same(t, r, "a/AGENTS.md:1 policy-edit low", "CODEOWNERS:1 policy-edit medium")
	if f := r.Findings[0]; f.Title != "The change edits AGENTS.md and 2 other files: instructions for assistants" ||
		!strings.Contains(f.Body, "to b/AGENTS.md, c/CLAUDE.md.") {
		t.Errorf("title %q, body %q", f.Title, f.Body)
	}
}
