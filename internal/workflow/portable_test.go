package workflow

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/memory"
)

// TestMemoryFileOfTheBase: dismissals and learnings of the memory file hold with an empty memory,
// but only those of the base.
func TestMemoryFileOfTheBase(t *testing.T) {
	home := t.TempDir()
	work := repository(t, home)
	runGit(t, home, work, "checkout", "-q", "main")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(work, ".precedent"), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, ".precedent", "memory.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recalled := func() memory.Recall {
		t.Helper()
		r := newReviewer(home, forgetest.NewStage(t).Clock)
		repo, err := r.OpenRepository(t.Context(), Location{Dir: work})
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		p, err := r.PrepareLocal(t.Context(), repo, git.Spec{Worktree: true}, newJob(&scripted{}))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return p.Input.Recall
	}
	write("learnings:\n  - {kind: do, directive: close every file, who: dana, id: abc}\n" +
		"dismissals:\n  - {fingerprint: f1, claim: x, severity: low, at: \"2026-01-01T00:00:00Z\", who: li}\n")
	if r := recalled(); len(r.Rejections) > 0 || len(r.Learnings) > 0 {
		t.Errorf("an uncommitted file holds: %+v", r)
	}
	runGit(t, home, work, "add", "-f", ".precedent/memory.yaml")
	runGit(t, home, work, "commit", "-q", "-m", "share")
	write("changed: true\n")
	r := recalled()
	if len(r.Rejections) != 1 || r.Rejections[0].Fingerprint != "f1" || !strings.HasPrefix(r.Rejections[0].Who, "li (") {
		t.Errorf("%+v", r.Rejections)
	}
	if !slices.ContainsFunc(r.Learnings, func(l memory.Recalled) bool { return l.ID == "abc" && l.Kind == precedent.LearnDo }) {
		t.Errorf("%+v", r.Learnings)
	}
}
