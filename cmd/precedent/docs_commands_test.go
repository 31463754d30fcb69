package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// elsewhere are beginnings of documented commands that other tests and the stories run: they need a server, an engine,
// a terminal, a remote, or findings of a kind.
var elsewhere = []string{
	"serve", "dashboard", "fix 7", "doctor --server", "upgrade --check", "jobs", "memory export --all",
	"memory import --all", "memory sync", "pr https://codeberg.org/owner/name/pulls/7", "pr 1 --repo", "gate", "review --fix",
	"dismiss --rule", "dismiss --finder", "hook-pre-push",
}

var (
	shownCommand = regexp.MustCompile(`(?:^|\s)precedent ([a-z-].*)$`)
	shownID      = regexp.MustCompile(`\b(?:k7m2q0v5xa|mpmswjy8zq)\b`)
	shownURL     = regexp.MustCompile(`https://github\.com/owner/name/pull/\d+|"\$PULL_REQUEST"`)
	shownNumber  = regexp.MustCompile(`^(pr|outcomes) \d+`)
)

// shownCommands are the commands in the blocks of code of a document, without comments and what reads their output.
func shownCommands(text string) (all []string) {
	block := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			block = !block
			continue
		}
		m := shownCommand.FindStringSubmatch(strings.TrimSpace(line))
		if !block || m == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		command, _, _ := strings.Cut(m[1]+" ", " #")
		command, _, _ = strings.Cut(command, " | ")
		command, _, _ = strings.Cut(command, " || ")
		if command = strings.TrimSpace(command); !slices.Contains(all, command) {
			all = append(all, command)
		}
	}
	return all
}

// TestShownCommands runs every command that a document shows, once, in the order of the document, in a clone of a repository
// with a pull request and something to find. None of them is used wrongly.
func TestShownCommands(t *testing.T) {
	t.Parallel()
	program := needs.Value(exec.LookPath("precedent"))(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("needs bash")
	}
	docs := needs.Value(filepath.Glob(filepath.Join("..", "..", "docs", "*.md")))(t)
	shown := map[string]bool{}
	for _, doc := range append(docs, filepath.Join("..", "..", "README.md")) {
		if filepath.Base(doc) == "commands.md" {
			continue
		}
		commands := slices.DeleteFunc(shownCommands(read(t, doc)), func(command string) bool {
			writes := strings.Contains(command, ">") || strings.Contains(command, "--out") // what others of the document read
			return shown[command] && !writes || slices.ContainsFunc(elsewhere, func(beginning string) bool {
				return strings.HasPrefix(command+" ", beginning+" ")
			})
		})
		for _, command := range commands {
			shown[command] = true
		}
		if len(commands) == 0 {
			continue
		}
		t.Run(filepath.Base(doc), func(t *testing.T) {
			t.Parallel()
			s := newPRStage(t)
			clone := filepath.Join(s.home, "clone")
			s.git(s.home, "clone", "--quiet", "--branch", "feature", s.origin, clone)
			s.git(clone, "remote", "set-url", "origin", s.door.URL+"/octo/app")
			s.git(clone, "branch", "main", "origin/main")
			writeFile(t, filepath.Join(clone, "internal", "store", "open.go"), strings.Repeat("// a line\n", 50), 0o600)
			s.git(clone, "add", ".")
			for _, name := range []string{"src", "docs"} {
				writeFile(t, filepath.Join(clone, name, "a.txt"), "<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> b\n", 0o600)
			}
			for i := range 2 {
				s.git(clone, "commit", "--quiet", "--allow-empty", "--message", fmt.Sprint("more ", i))
			}
			s.git(clone, "add", ".")
			writeFile(t, filepath.Join(clone, "comments.jsonl"), `{"id":5,"pull_request_url":"https://github.com/octo/app/pull/3","path":"a.txt","body":"Please wrap the error with the name of the file here.","user":{"id":12,"login":"mona"},"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05Z","diff_hunk":"@@ -1 +1 @@\n+x","line":1,"html_url":"https://github.com/octo/app/pull/3#discussion_r5"}`+"\n", 0o600)
			run := func(command string) (string, int) {
				t.Helper()
				cmd := exec.CommandContext(t.Context(), bash, "--noprofile", "--norc", "-c", "precedent "+command)
				cmd.Dir = clone
				cmd.Env = []string{
					"HOME=" + s.home, "PATH=" + filepath.Dir(program) + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "LC_ALL=C.UTF-8",
					"GITHUB_API_URL=" + s.door.URL + "/api/v3", "GH_TOKEN=" + forgetest.Secret, "PRECEDENT_CONSOLIDATION=off",
				}
				out, err := cmd.CombinedOutput()
				if cmd.ProcessState == nil {
					t.Fatal(err)
				}
				return string(out), cmd.ProcessState.ExitCode()
			}
			out, _ := run("review --staged --json")
			id := regexp.MustCompile(`"id": "([0-9a-z]{10})"`).FindStringSubmatch(out)
			_, _ = run(`learn add "every query takes a context"`)
			learning, _ := run("learn list --json")
			learned := regexp.MustCompile(`"id": "([0-9a-z-]+)"`).FindStringSubmatch(learning)
			if id == nil || learned == nil {
				t.Fatalf("no finding or no learning: %s%s", out, learning)
			}
			for _, command := range commands {
				given := shownID.ReplaceAllString(command, id[1])
				given = shownURL.ReplaceAllString(given, s.door.URL+"/octo/app/pull/7")
				given = shownNumber.ReplaceAllString(given, "$1 7")
				given = regexp.MustCompile(`\bID\b`).ReplaceAllString(given, learned[1])
				out, status := run(given)
				if status == 2 || status < 0 || status > 3 {
					t.Errorf("precedent %s: exit status %d\n%s", given, status, out)
				}
			}
		})
	}
}
