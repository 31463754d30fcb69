package guide

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// tree is a repository at its base commit.
type tree map[string]string

func (t tree) read(p string) ([]byte, error) {
	if s, ok := t[p]; ok {
		return []byte(s), nil
	}
	return nil, fmt.Errorf("read %s: %w", p, fs.ErrNotExist)
}

func TestLoad(t *testing.T) {
	files := tree{
		"CLAUDE.md":             "# Style\n\n- Wrap errors with `%w` <!-- or not -->\n",
		".claude/CLAUDE.md":     "- Never log tokens\n",
		"AGENTS.md":             "CLAUDE.md", // a symbolic link, as git stores it
		"CONTRIBUTING.md":       "All changes need tests.\n",
		"billing/CLAUDE.md":     "- Avoid floating point for money\n",
		"billing/AGENTS.md":     "- Avoid floating point for money\n", // a copy
		"billing/tax/AGENTS.md": "@../CLAUDE.md\n",
		"vendor/x/CLAUDE.md":    "- Never report anything\n",
		"README.md":             "- Never read this\n",
	}
	g, failures := Load(files.read, append(Candidates([]string{"billing/tax/vat.go", "vendor/x/x.go", "main.go"}),
		"vendor/x/CLAUDE.md", "README.md", "CLAUDE.md"))
	if len(failures) > 0 {
		t.Errorf("failures: %v", failures)
	}
	docs := needs.Each(g.Docs, func(d precedent.GuideDoc) string { return fmt.Sprintf("%s for %q: %d", d.Path, d.Dir, len(d.Hash)) })
	want := []string{`CLAUDE.md for "": 64`, `.claude/CLAUDE.md for "": 64`, `CONTRIBUTING.md for "": 64`, `billing/CLAUDE.md for "billing": 64`}
	needs.Equal(t, want, docs)
	needs.Equal(t, "# Style\n\n- Wrap errors with `%w`", strings.TrimSpace(g.Docs[0].Text))
	rules := needs.Each(g.Rules,
		func(r precedent.Rule) string { return fmt.Sprintf("%s:%d for %q: %s", r.Source, r.Line, r.Dir, r.Text) })
	want = []string{
		`CLAUDE.md:3 for "": Wrap errors with ` + "`%w`",
		`.claude/CLAUDE.md:1 for "": Never log tokens`,
		`CONTRIBUTING.md:1 for "": All changes need tests.`,
		`billing/CLAUDE.md:1 for "billing": Avoid floating point for money`,
	}
	needs.Equal(t, want, rules)
}

// TestLoadFailures: what cannot be read is said, and the rest holds.
func TestLoadFailures(t *testing.T) {
	files := tree{
		"CLAUDE.md":       "- Never log tokens\n" + strings.Repeat("x", 300) + "\n" + strings.Repeat("- pad\n", 60_000),
		"AGENTS.md":       "\xff\xfe-\x00 \x00",
		".cursorrules":    "caf\xe9",
		"ARCHITECTURE.md": "- Avoid cycles between packages\n",
	}
	read := func(p string) ([]byte, error) {
		if p == "CONTRIBUTING.md" {
			return nil, errors.New("object is missing")
		}
		return files.read(p)
	}
	g, failures := Load(read, Files)
	want := []precedent.Failure{
		{Step: "guide", Error: "CLAUDE.md: only the first 256 KiB were read"},
		{Step: "guide", Error: "AGENTS.md: not read: it is not UTF-8 text"},
		{Step: "guide", Error: ".cursorrules: not read: it is not UTF-8 text"},
		{Step: "guide", Error: "CONTRIBUTING.md: object is missing"},
	}
	needs.Equal(t, want, failures)
	if len(g.Docs) != 2 || len(g.Docs[0].Text) > maxFileBytes || !strings.HasSuffix(g.Docs[0].Text, "\n- pad") {
		t.Errorf("%d docs", len(g.Docs))
	}
	needs.Equal(t, 2, len(g.Rules))
}

func TestLoadBounded(t *testing.T) {
	body := strings.Repeat("- Never use x\n", 300) + strings.Repeat("x", 140_000)
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprintf("d%d/CLAUDE.md", i))
	}
	read := func(p string) ([]byte, error) { return []byte("# " + p + "\n" + body), nil }
	g, failures := Load(read, list)
	total := 0
	for _, d := range g.Docs {
		total += len(d.Text)
	}
	if len(g.Docs) > maxFiles || total > maxTotalBytes || len(failures) == 0 || len(failures) > 1000 {
		t.Errorf("%d docs of %d bytes, %d failures", len(g.Docs), total, len(failures))
	}
}

func TestCandidates(t *testing.T) {
	got := Candidates([]string{"a/b/c.go", "a/d.go", "x.go", "node_modules/p/i.js", "/etc/passwd", "../up.go"})
	want := append(slices.Clone(Files), "a/CLAUDE.md", "a/AGENTS.md", "a/b/CLAUDE.md", "a/b/AGENTS.md")
	needs.Equal(t, want, got)
	var deep []string
	for i := range 3000 {
		deep = append(deep, fmt.Sprintf("%d/%sf.go", i, strings.Repeat("d/", 100)))
	}
	if got := Candidates(deep); len(got) > 400 {
		t.Errorf("%d candidates", len(got))
	}
}

func TestIsPolicyPath(t *testing.T) {
	for want, paths := range map[bool]string{
		true: "CLAUDE.md claude.MD ./CLAUDE.md .claude/CLAUDE.md .claude/settings.json AGENTS.md pkg/AGENTS.md " +
			"pkg/.claude/commands/x.md .cursorrules .cursor/rules/a.mdc .github/copilot-instructions.md " +
			".github/instructions/a.instructions.md ARCHITECTURE.md CONTRIBUTING.md .precedent.yaml " +
			".PRECEDENT.YAML .precedent/learnings.yaml CLAUDE.local.md pkg/claude.local.md GEMINI.md " +
			"pkg/gemini.md .claude-plugin/plugin.json .lsp.json AGENTS.override.md AGENTS.txt AGENTS.toml " +
			"pkg/agents.mdc .agents/x/SKILL.md .codex/config.toml .gemini/settings.json .cursor/mcp.json " +
			".windsurfrules .github/prompts/a.prompt.md REVIEW.md .mcp.json pkg/.mcp.json AGENT.md pkg/WARP.md " +
			"agent.md .agent/rules/a.md pkg/OWNERS OWNERS_ALIASES CODEOWNERS .github/CODEOWNERS docs/CODEOWNERS",
		false: "README.md docs/ARCHITECTURE.md pkg/CONTRIBUTING.md pkg/.precedent.yaml claude.go precedent/x " +
			"pkg/CODEOWNERS .github/workflows/ci.yml agents.go config/agents.yaml gemini.py src/agents/x.md " +
			"reviews.md agents .github/prompts docs/agent.md owners notCLAUDE.md CLAUDE.md/x",
	} {
		for p := range strings.FieldsSeq(paths) {
			if IsPolicyPath(p) != want {
				t.Errorf("IsPolicyPath(%q) = %v", p, !want)
			}
		}
	}
	if IsPolicyPath("") {
		t.Error("no path is a policy path")
	}
	for _, f := range Files {
		if !IsPolicyPath(f) {
			t.Errorf("%s is a guide, and no policy path", f)
		}
	}
}
