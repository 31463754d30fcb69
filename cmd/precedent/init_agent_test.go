package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestAgentsUseTheirSetup: the real Claude Code and the real Codex, in a project with what init --agent wrote, know the
// server and the skill. Cursor is not to be had without its desktop program.
func TestAgentsUseTheirSetup(t *testing.T) {
	needs.Soak(t, "starts Claude Code and Codex")
	t.Parallel()
	precedent := needs.Value(exec.LookPath("precedent"))(t)
	for _, test := range []struct {
		agent, program     string
		server, skill      []string // of the agent: what lists them
		serverHas, skillIs string
	}{
		{
			"claude", needs.Program(t, "PRECEDENT_TEST_CLAUDE", "claude/node_modules/.bin/claude", "the real Claude Code"),
			[]string{"mcp", "list"},
			nil, "precedent: precedent mcp", "",
		},
		{
			"codex", needs.Program(t, "PRECEDENT_TEST_CODEX", "codex/node_modules/.bin/codex", "the real Codex"),
			[]string{"mcp", "list"},
			[]string{"debug", "prompt-input", "Review this."},
			"precedent  precedent  mcp", "- precedent-review: Reviews the current change",
		},
	} {
		t.Run(test.agent, func(t *testing.T) {
			home, project := t.TempDir(), t.TempDir()
			env := []string{"HOME=" + home, "PATH=" + filepath.Dir(precedent) + string(os.PathListSeparator) + os.Getenv("PATH"), "DISABLE_AUTOUPDATER=1", "ANTHROPIC_API_KEY=x"}
			run := func(program string, args ...string) string {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), program, args...)
				cmd.Dir, cmd.Env = project, env
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s %q: %v\n%s", program, args, err, out)
				}
				return string(out)
			}
			run("git", "init", "--quiet")
			run(precedent, "init", "--agent", test.agent)
			if test.agent == "codex" { // it reads the settings of projects that the user trusts
				trusted := "[projects.\"" + project + "\"]\ntrust_level = \"trusted\"\n"
				writeFile(t, filepath.Join(home, ".codex", "config.toml"), trusted, 0o600)
			}
			if got := run(test.program, test.server...); !strings.Contains(got, test.serverHas) {
				t.Errorf("its servers:\n%s", got)
			}
			if test.skill != nil {
				if got := run(test.program, test.skill...); !strings.Contains(got, test.skillIs) {
					t.Errorf("its skills:\n%s", got)
				}
			}
		})
	}
}
