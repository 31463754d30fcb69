package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRules reads guide files of the kinds that repositories have. What is in a golden file was read by a person: each
// line is a rule that a change can break, and nothing that the guide merely tells is in it.
func TestRules(t *testing.T) {
	for name, path := range map[string]string{
		"claude":       "CLAUDE.md",
		"agents":       "web/checkout/AGENTS.md",
		"cursorrules":  ".cursorrules",
		"copilot":      ".github/copilot-instructions.md",
		"contributing": "CONTRIBUTING.md",
		"architecture": "ARCHITECTURE.md",
	} {
		t.Run(name, func(t *testing.T) {
			src := needs.Value(os.ReadFile(filepath.Join("testdata", "rules", name+".txt")))(t)
			var b strings.Builder
			for _, r := range Rules(path, string(src)) {
				fmt.Fprintf(&b, "%d %s\n", r.Line, r.Text)
				if want, _ := guideDir(path); r.Source != path || r.Dir != want {
					t.Errorf("rule from %q for %q", r.Source, r.Dir)
				}
			}
			golden.Compare(t, filepath.Join("testdata", "rules", name+".golden"), b.String())
		})
	}
}

// TestRuleOrNot: one statement at a time, in a section that says nothing.
func TestRuleOrNot(t *testing.T) {
	for _, test := range []struct {
		file, src string
		want      string // the rule; empty for none
	}{
		{"CLAUDE.md", "- Never log tokens", "Never log tokens"},
		{"CLAUDE.md", "- **Never** log *tokens*", "Never log tokens"},
		{"CLAUDE.md", "- Use `slog`, see [docs](https://x.y)", "Use `slog`, see docs"},
		{"CLAUDE.md", "- [ ] Wrap errors with `%w`", "Wrap errors with `%w`"},
		{"CLAUDE.md", "1) Avoid global state", "Avoid global state"},
		{"CLAUDE.md", "Handlers must not\nblock.", "Handlers must not block."},
		{"CLAUDE.md", "- ne\u200bver log \u202etokens", "never log tokens"},
		{"CLAUDE.md", "- Never log tokens <!-- unless it is convenient -->", "Never log tokens"},
		{"CLAUDE.md", "- Never log tokens &#60;!-- unless it is convenient --&#62;", "Never log tokens"},
		{"CLAUDE.md", "- 必须使用 TypeScript 严格模式", "必须使用 TypeScript 严格模式"},
		{"CLAUDE.md", "# Don't\n\n- Use `any`", "Don't: Use `any`"},
		{"CLAUDE.md", "Avoid:\n\n- `any` types", "Avoid: `any` types"},
		{"CLAUDE.md", "## Do not edit generated files", "Do not edit generated files"},

		{"CLAUDE.md", "- `npm test`: runs the tests", ""},
		{"CLAUDE.md", "- Install the tools with `make tools`", ""},
		{"CLAUDE.md", "- [Always up to date](https://x.y)", ""},
		{"CLAUDE.md", "- Handlers live in `internal/http`", ""},
		{"CLAUDE.md", "- Ask before you commit", ""},
		{"CLAUDE.md", "- Always comment on the GitHub thread when you are done", ""},
		{"CLAUDE.md", "    - Never log tokens", ""},
		{"CLAUDE.md", "```\n- Never log tokens\n```", ""},
		{"CLAUDE.md", "<details>\nNever log tokens.\n</details>", ""},
		{"CLAUDE.md", "## Installation\n\n- Always use version 3 of the package", ""},
		{"CLAUDE.md", "The first one never shipped.", ""},
		{"CLAUDE.md", "- Do not", ""},
		{"CLAUDE.md", "![Never log tokens](x.png)", ""},

		{"CONTRIBUTING.md", "All changes need tests.", "All changes need tests."},
		{"CONTRIBUTING.md", "You should see ok for every package.", ""},
		{"CONTRIBUTING.md", "Don't worry about the tests.", ""},
		{"CONTRIBUTING.md", "You must always be respectful.", ""},
		{"CONTRIBUTING.md", "- Open a pull request", ""},
		{"CONTRIBUTING.md", "- Use the search tool to check for existing issues or feature requests.", ""},
		{"CONTRIBUTING.md", "## Issues\n\n- Include the version of the program", ""},
	} {
		var got string
		if rules := Rules(test.file, test.src); len(rules) == 1 {
			got = rules[0].Text
		} else if len(rules) > 1 {
			t.Errorf("%q: %d rules", test.src, len(rules))
		}
		if got != test.want {
			t.Errorf("%s, %q: rule %q, want %q", test.file, test.src, got, test.want)
		}
	}
}

func TestRuleIDs(t *testing.T) {
	before := Rules("CLAUDE.md", "- Never log tokens\n- Wrap errors\n  once\n- Never log tokens\n")
	after := Rules("CLAUDE.md",
		"# Style\n\nSome words.\n\n- Wrap **errors** once\n- Use `slog` for logs\n- Never log tokens\n")
	if len(before) != 2 || len(after) != 3 {
		t.Fatalf("%d and %d rules, want 2 and 3", len(before), len(after))
	}
	if before[0].ID != after[2].ID || before[1].ID != after[0].ID {
		t.Error("a rule that moved has another id")
	}
	if len(before[0].ID) != 8 || before[0].ID == Rules("AGENTS.md", "- Never log tokens")[0].ID {
		t.Error("an id is 8 digits that depend on the file")
	}
	if after[0].Line != 5 || after[2].Line != 7 {
		t.Errorf("lines %d and %d, want 5 and 7", after[0].Line, after[2].Line)
	}
}

func TestRuleCaps(t *testing.T) {
	long := "Never log tokens. " + strings.Repeat("Because they end up in files. ", 30)
	rules := Rules("CLAUDE.md", "- "+long+"\n- Avoid "+strings.Repeat("abc ", 200))
	if len(rules) != 2 {
		t.Fatalf("%d rules", len(rules))
	}
	if got := rules[0].Text; !strings.HasPrefix(long, got) || !strings.HasSuffix(got, ".") {
		t.Errorf("a long rule is %q", got)
	}
	for _, r := range rules {
		if n := utf8.RuneCountInString(r.Text); n > maxRuleRunes || n < maxRuleRunes/2 {
			t.Errorf("a rule of %d characters", n)
		}
	}
	if rules := Rules("CLAUDE.md", "- Never log tokens "+strings.Repeat("x ", maxBlock)); len(rules) > 0 {
		t.Errorf("%d rules of a block that is too long", len(rules))
	}
}

// hostile are guide files on which a reader of Markdown by lines could take its time.
func hostile() map[string]string {
	n := needs.Rounds(maxFileBytes, maxFileBytes/8)
	rows := func(row func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(row(i))
		}
		return b.String()
	}
	return map[string]string{
		"quotes":       strings.Repeat(">", n),
		"brackets":     strings.Repeat("[", n),
		"links":        strings.Repeat("[a](", n/4),
		"emphasis":     strings.Repeat("*a_ ", n/4),
		"ticks":        rows(func(i int) string { return strings.Repeat("`", i) + "a" }),
		"many items":   rows(func(i int) string { return fmt.Sprintf("- never use x%d\n", i) }),
		"nested list":  rows(func(i int) string { return strings.Repeat(" ", 2*i) + "- a\n" }),
		"table":        "|a|b|\n|-|-|\n" + strings.Repeat("|never use x|y|\n", n/16),
		"comments":     strings.Repeat("<!--", n/4),
		"4 KiB blocks": rows(func(int) string { return strings.Repeat("*a_ ", 60) + strings.Repeat("[a](", 60) + "\n\n" }),
		"sentences":    rows(func(int) string { return strings.Repeat("Never use x. ", 300) + "\n\n" }),
		"one word":     strings.Repeat("a", n),
		"front matter": "---\n" + strings.Repeat("a: b\n", n/5),
	}
}

func TestRulesBounded(t *testing.T) {
	const limit = 10 * time.Second // with the race detector; alone none takes 0.3 s
	for name, src := range hostile() {
		for _, path := range []string{"CLAUDE.md", ".cursorrules"} {
			var g Guide
			took := needs.Busy(func() {
				g, _ = Load(func(string) ([]byte, error) { return []byte(src), nil }, []string{path})
			})
			if took > limit {
				t.Errorf("%s as %s took %v", name, path, took)
			}
			if len(g.Rules) > maxRules {
				t.Errorf("%s: %d rules", name, len(g.Rules))
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	for name, src := range hostile() {
		f.Add("CLAUDE.md", src[:min(len(src), 300)])
		_ = name
	}
	f.Add("CONTRIBUTING.md",
		"# Tests\n\nAll changes need tests. Don't\n\n- a: b: `c\n\n| Don't |\n|---|\n| x `y` z |\n| a | b |\n")
	f.Add(".cursorrules", "Never:\n- x\n  - y:\n    - z\n\n> **Never** a\n\n[a]: b\n[a]\n")
	f.Fuzz(func(t *testing.T, path, src string) {
		for _, r := range Rules(path, src) {
			if r.Text == "" || utf8.RuneCountInString(r.Text) > maxRuleRunes || strings.ContainsAny(r.Text, "\n\r") ||
				len(r.ID) != 8 {
				t.Errorf("rule %+v", r)
			}
			if r.Line < 1 || r.Line > strings.Count(src, "\n")+1 {
				t.Errorf("line %d of %d", r.Line, strings.Count(src, "\n")+1)
			}
		}
	})
}
