//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/background"
	"github.com/precedent-dev/precedent/internal/needs"
)

// changedApp is a clone with a change that has a finding, and the app that reviews it.
func changedApp(t *testing.T) (*app, *bytes.Buffer) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	runGit(t, home, dir, "init", "-q")
	runGit(t, home, dir, "commit", "-q", "--allow-empty", "-m", "one")
	writeFile(t, filepath.Join(dir, "a.txt"), conflict("", "left\n", "right\n"), 0o600)
	var said bytes.Buffer
	return &app{
		in: strings.NewReader(""), out: &bytes.Buffer{}, err: &said, dir: dir, now: time.Now,
		env: map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "TMPDIR": t.TempDir()},
	}, &said
}

// TestReviewStartsConsolidation: with the settings of the review, in the background, once. While another process is at
// it, a run says so and ends.
func TestReviewStartsConsolidation(t *testing.T) {
	t.Parallel()
	a, said := changedApp(t)
	var started []background.Program
	a.start = func(p background.Program) error {
		started = append(started, p)
		return nil
	}
	if status := a.run(t.Context(), []string{"review", "--max-cost", "0.5"}); status != 1 {
		t.Fatalf("status %d: %s", status, said)
	}
	want := []string{"memory", "consolidate", "--if-due", "--memory-db=" + filepath.Join(a.dir, ".precedent", "memory.db"), "--max-cost=0.5"}
	if len(started) != 1 || !slices.Equal(started[0].Args, want) || started[0].Dir != a.dir {
		t.Fatalf("started %+v, want %q", started, want)
	}
	if !strings.HasPrefix(started[0].Log, a.env["HOME"]) || strings.Contains(said.String(), "[memory]") {
		t.Errorf("log %q, said %q", started[0].Log, said)
	}
	for _, change := range []func(){
		func() { a.env["PRECEDENT_CONSOLIDATION"] = "off" },
		func() { a.env["PRECEDENT_CONSOLIDATION"], a.start = "", nil },
	} {
		change()
		if a.run(t.Context(), []string{"review", "--again"}); len(started) != 1 {
			t.Errorf("turned off: started %+v", started[1:])
		}
	}
	w := needs.Value(a.openWorkspace(t.Context(), nil))(t)
	rows, err := w.Memory.DB.RepoFor(t.Context(), w.IDs...)
	if err == nil {
		_, err = rows.BeginConsolidation(t.Context(), "another", time.Minute)
	}
	w.Close()
	needs.NoError(t, err)
	said.Reset()
	status := a.run(t.Context(), []string{"memory", "consolidate"})
	if status != 0 || said.String() != "[memory] another process is consolidating\n" {
		t.Errorf("status %d: %s", status, said)
	}
}
