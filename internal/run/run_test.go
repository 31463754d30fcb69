package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestFilesOfWhatIsNotCommitted: a model may look at a work tree as at a commit,
// and at the history that it stands on.
func TestFilesOfWhatIsNotCommitted(t *testing.T) {
	home := t.TempDir()
	work := pulltest.Repository(t, home)
	needs.NoError(t, os.WriteFile(filepath.Join(work, "new.txt"), []byte("new\n"), 0o600))
	r := newEnv(home, forgetest.NewStage(t).Clock)
	repo, err := r.OpenRepository(t.Context(), workspace.Location{Dir: work})
	needs.NoError(t, err)
	defer repo.Close()
	p, err := PrepareLocal(t.Context(), r, repo, git.Spec{Worktree: true}, newJob(&pulltest.Engine{}))
	needs.NoError(t, err)
	defer p.Close()
	f := p.files(t.Context())
	list, err := f.List(t.Context(), precedent.Right)
	if err != nil || !slices.Contains(list, "new.txt") || !slices.Contains(list, "a.txt") {
		t.Errorf("files %v, %v", list, err)
	}
	before, err := f.List(t.Context(), precedent.Left)
	if err != nil || slices.Contains(before, "new.txt") || !slices.Contains(before, "a.txt") {
		t.Errorf("files of the base %v, %v", before, err)
	}
	if data, err := f.Read(t.Context(), precedent.Left, "new.txt", 100); err == nil {
		t.Errorf("new.txt of the base: %q", data)
	}
	if data, err := f.Read(t.Context(), precedent.Right, "new.txt", 100); err != nil || string(data) != "new\n" {
		t.Errorf("new.txt: %q, %v", data, err)
	}
	if log, err := f.History(t.Context(), "till.js"); err != nil || strings.Count(log, "dana") != 1 {
		t.Errorf("history of till.js: %q, %v", log, err)
	}
}
