package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// documented returns the first block of a language that has a text, from docs/editors.md.
func documented(t *testing.T, language, has string) string {
	t.Helper()
	for _, block := range strings.Split(read(t, filepath.Join("..", "..", "docs", "editors.md")), "```"+language+"\n")[1:] {
		if code, _, _ := strings.Cut(block, "```"); strings.Contains(code, has) {
			return code
		}
	}
	t.Fatalf("docs/editors.md has no %s with %q", language, has)
	return ""
}

// withConflict is a repository with a staged conflict marker in a file, whose path has a space.
func withConflict(t *testing.T) (dir string, run func(args ...string) (string, error)) {
	t.Helper()
	dir = t.TempDir()
	home := t.TempDir()
	env := []string{
		"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C.UTF-8",
		"PRECEDENT_CONSOLIDATION=off", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@example.org",
	}
	run = func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	runGit(t, home, dir, "init", "--quiet")
	runGit(t, home, dir, "commit", "--quiet", "--allow-empty", "--message", "one")
	writeFile(t, filepath.Join(dir, "a folder", "a.txt"), conflict("start\n", "x\n", "y\n"), 0o600)
	runGit(t, home, dir, "add", ".")
	return dir, run
}

const conflictLine = "a folder/a.txt:2: high "

// TestProblemMatchers: the patterns for VS Code match what is printed, and say where.
func TestProblemMatchers(t *testing.T) {
	t.Parallel()
	_, run := withConflict(t)
	out, _ := run("precedent", "-q", "review", "--format", "agent")
	tasks := parsed[struct {
		Tasks []struct {
			ProblemMatcher []struct{ Pattern struct{ Regexp string } }
		}
	}](t, documented(t, "json", "problemMatcher"))
	var found [][]string
	for _, m := range tasks.Tasks[0].ProblemMatcher {
		pattern := regexp.MustCompile(m.Pattern.Regexp)
		for line := range strings.Lines(out + "b.go:7: low style x A title\n") {
			if match := pattern.FindStringSubmatch(strings.TrimSuffix(line, "\n")); match != nil {
				found = append(found, match[1:3])
			}
		}
	}
	if len(found) != 2 || strings.Join(found[0], ":") != "a folder/a.txt:2" || strings.Join(found[1], ":") != "b.go:7" {
		t.Errorf("%q in\n%s", found, out)
	}
}

// TestVim: the real Vim has the finding in its list.
func TestVim(t *testing.T) {
	needs.Soak(t, "starts Vim")
	t.Parallel()
	vim := needs.Command(t, "PRECEDENT_TEST_VIM", "vim")
	dir, run := withConflict(t)
	script := filepath.Join(dir, "script.vim")
	writeFile(t, script, documented(t, "vim", "errorformat")+"silent make!\ncall writefile(map(filter(getqflist(), 'v:val.valid'), {_, e -> bufname(e.bufnr) . ':' . e.lnum . ': ' . e.text}), 'list.txt')\nqa!\n", 0o600)
	out, err := run(vim, "-N", "-u", "NONE", "-i", "NONE", "-es", "-S", script)
	if got := read(t, filepath.Join(dir, "list.txt")); !strings.HasPrefix(got, conflictLine) || strings.Count(got, "\n") != 1 {
		t.Errorf("%v\n%s\n%s", err, got, out)
	}
}

// TestHookManagers: the real pre-commit and the real lefthook stop a commit with a conflict marker, and let one without pass.
func TestHookManagers(t *testing.T) {
	needs.Soak(t, "starts pre-commit and lefthook")
	t.Parallel()
	for _, manager := range []struct {
		name, file, has string
		program         string
		install         []string
	}{
		{"pre-commit", ".pre-commit-config.yaml", "pass_filenames", needs.Command(t, "PRECEDENT_TEST_PRE_COMMIT", "pre-commit"), []string{"install"}},
		{"lefthook", "lefthook.yml", "jobs:", needs.Program(t, "PRECEDENT_TEST_LEFTHOOK", "lefthook/node_modules/.bin/lefthook", "lefthook"), []string{"install"}},
	} {
		t.Run(manager.name, func(t *testing.T) {
			dir, run := withConflict(t)
			writeFile(t, filepath.Join(dir, manager.file), documented(t, "yaml", manager.has), 0o600)
			for _, args := range [][]string{{"git", "add", manager.file}, append([]string{manager.program}, manager.install...)} {
				if out, err := run(args...); err != nil {
					t.Fatalf("%q: %v\n%s", args, err, out)
				}
			}
			if out, err := run("git", "commit", "--message", "two"); err == nil || !strings.Contains(out, conflictLine) {
				t.Errorf("the commit passed: %v\n%s", err, out)
			}
			writeFile(t, filepath.Join(dir, "a folder", "a.txt"), "start\nx\n", 0o600)
			if out, err := run("git", "commit", "--all", "--message", "two"); err != nil {
				t.Errorf("the commit did not pass: %v\n%s", err, out)
			}
		})
	}
}
