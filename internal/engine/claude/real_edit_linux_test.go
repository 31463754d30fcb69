package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRealCLIEdits: in a task that edits, Claude Code itself changes files of the copy, and nothing outside of it:
// by an absolute path, by .., by a link, in its HOME, or in the folder of temporary files.
func TestRealCLIEdits(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		enterNamespace(t)
		return
	}
	loopbackUp(t)
	tree, outside := t.TempDir(), t.TempDir()
	plant(t, tree, map[string]string{"till.go": "package till\n\nconst answer = 41\n", "lib/a.txt": "a\n"})
	plant(t, outside, map[string]string{"there.txt": "untouched"})
	if err := os.Symlink(outside, filepath.Join(tree, "link")); err != nil { // a copy never has one
		t.Fatal(err)
	}
	write := func(path string) llmtest.Reply {
		return call("Write", map[string]any{"file_path": path, "content": "escaped"})
	}
	m := serve(
		t,
		call("Read", map[string]any{"file_path": filepath.Join(tree, "till.go")}),
		call("Edit", map[string]any{
			"file_path": filepath.Join(tree, "till.go"), "old_string": "41", "new_string": "42",
		}),
		call("Write", map[string]any{"file_path": filepath.Join(tree, "lib", "new.txt"), "content": "new\n"}),
		write(filepath.Join(outside, "absolute.txt")),
		write(filepath.Join(tree, "..", filepath.Base(outside), "dots.txt")),
		write(filepath.Join(tree, "link", "linked.txt")),
		call("Read", map[string]any{"file_path": filepath.Join(outside, "there.txt")}),
		call("Edit", map[string]any{
			"file_path": filepath.Join(outside, "there.txt"), "old_string": "untouched", "new_string": "touched",
		}),
		write(filepath.Join(os.TempDir(), "precedent-escaped.txt")),
		call("Bash", map[string]any{"command": "touch " + filepath.Join(outside, "bash.txt")}),
		write(filepath.Join(tree, ".claude", "settings.json")),
		answer(`{"n":5}`),
	)
	e, home := start(t, m)
	e.MaxTurns = 20
	task := realTask(tree)
	task.Edit = true
	a := needs.Value(e.Run(t.Context(), task))(t)
	if a.Status != precedent.StatusOK || string(a.JSON) != `{"n":5}` {
		t.Errorf("%+v", a)
	}
	for name, want := range map[string]string{
		"till.go": "package till\n\nconst answer = 42\n", "lib/new.txt": "new\n", "lib/a.txt": "a\n",
	} {
		if text, err := os.ReadFile(filepath.Join(tree, name)); err != nil || string(text) != want {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(outside, "there.txt")); err != nil || string(text) != "untouched" {
		t.Errorf("the file outside is %q, %v", text, err)
	}
	if strings.Contains(sent(m), "1\\tuntouched") {
		t.Error("the file outside was read")
	}
	if _, err := os.Stat(filepath.Join(os.TempDir(), "precedent-escaped.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a temporary file was written: %v", err)
	}
	if holds(t, home, "escaped") && !holds(t, filepath.Join(home, "transcripts"), "escaped") {
		t.Error("something was written to HOME")
	}
	if n := len(m.Requests()); n != 12 {
		t.Errorf("%d requests: not every turn was taken", n)
	}
}
