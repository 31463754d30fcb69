package run

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/pulltest"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestForeignMemory: a memory "can never hide" what its author likes: one that came with the
// repository is not used, in whatever form. That a review says so is in the story memory.
func TestForeignMemory(t *testing.T) {
	blob := func(t *testing.T, work string) string {
		return pulltest.Git(t, filepath.Dir(work), work, "rev-parse", "HEAD:a.txt")
	}
	index := func(t *testing.T, work, mode, id, path string) {
		pulltest.Git(t, filepath.Dir(work), work, "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false",
			"update-index", "--add", "--cacheinfo", mode+","+id+","+path)
	}
	committed := func(mode, path string) func(t *testing.T, work string) {
		return func(t *testing.T, work string) {
			index(t, work, mode, blob(t, work), path)
			pulltest.Git(t, filepath.Dir(work), work, "commit", "-q", "-m", "memory")
		}
	}
	for _, test := range []struct {
		name string
		make func(t *testing.T, work string)
		why  string // empty if the memory is used
		unix bool
	}{
		{"none", func(*testing.T, string) {}, "", false},
		{"our own", func(t *testing.T, work string) {
			pulltest.Write(t, work, ".precedent/memory.db-wal", "")
			pulltest.Write(t, work, ".precedent/.gitignore", "*\n")
			pulltest.Write(t, work, ".precedent/fixes/x.patch", "")
		}, "", false},
		{"a policy beside it", committed("100644", ".precedent.yaml"), "", false},
		{"a folder further down", committed("100644", "a/.precedent/memory.db"), "", false},
		{"committed", committed("100644", ".precedent/memory.db"), "git tracks", false},
		{"another file in the folder", committed("100644", ".precedent/x"), "git tracks", false},
		{"committed with the journal alone", committed("100644", ".precedent/memory.db-wal"), "git tracks", false},
		{"in another case", committed("100644", ".Precedent/Memory.db"), "git tracks", false},
		{"by its short name", committed("100644", "PRECED~1/memory.db"), "git tracks", false},
		{"with an invisible letter", committed("100644", ".prece\u200cdent/memory.db"), "git tracks", false},
		{"a gitlink", committed("160000", ".precedent"), "git tracks", false},
		{"a gitlink in another case", committed("160000", ".PRECEDENT"), "git tracks", false},
		{"a link", committed("120000", ".precedent"), "git tracks", false},
		{"in the index alone", func(t *testing.T, work string) {
			index(t, work, "100644", blob(t, work), ".precedent/memory.db")
		}, "git tracks", false},
		{"removed from the index alone", func(t *testing.T, work string) {
			committed("100644", ".precedent/memory.db")(t, work)
			pulltest.Git(t, filepath.Dir(work), work, "rm", "-q", "-r", "--cached", ".precedent")
		}, "git tracks", false},
		{"what a submodule left", func(t *testing.T, work string) {
			pulltest.Git(t, filepath.Dir(work), work, "init", "-q", ".precedent")
		}, "a repository of its own", false},
		{"a file", func(t *testing.T, work string) { pulltest.Write(t, work, ".precedent", "") }, "not a folder", false},
		{"an untracked link", link("elsewhere", ".precedent"), "not a folder", true},
		{"a link in the folder", link("elsewhere", ".precedent/memory.db"), "memory.db is a link", true},
		{"a link for the journal", link("elsewhere", ".precedent/memory.db-wal"), "memory.db-wal is a link", true},
		{"a link for the patches", link("elsewhere", ".precedent/fixes"), "fixes is a link", true},
		{"another user's folder", own(".precedent"), "belongs to another user", true},
		{"another user's file", own(".precedent/memory.db"), "memory.db belongs to another user", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.unix && runtime.GOOS == "windows" {
				t.Skip("links and owners are of other systems")
			}
			home := t.TempDir()
			work := pulltest.Repository(t, home)
			test.make(t, work)
			r := newEnv(home, forgetest.NewStage(t).Clock)
			repo, err := r.OpenRepository(t.Context(), workspace.Location{Dir: work})
			needs.NoError(t, err)
			defer repo.Close()
			file, foreign := repo.File, repo.Foreign
			beside := filepath.Join(work, ".precedent", "memory.db")
			switch {
			case test.why == "" && (foreign != nil || file.Value != beside):
				t.Errorf("%s, %v", file.Value, foreign)
			case test.why != "" && (foreign == nil || !strings.Contains(foreign.Error(), test.why) ||
				filepath.Dir(file.Value) != r.DataDir || workspace.HintOf(foreign) == ""):
				t.Errorf("%s, %v", file.Value, foreign)
			}
		})
	}
}

// link makes a link to a folder beside the work tree, which has a memory.
func link(to, at string) func(t *testing.T, work string) {
	return func(t *testing.T, work string) {
		t.Helper()
		pulltest.Write(t, filepath.Dir(work), filepath.Join(to, workspace.MemoryName), "")
		path := filepath.Join(work, at)
		needs.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		needs.NoError(t, os.Symlink(filepath.Join(filepath.Dir(work), to), path))
	}
}

// own makes a memory of which a part belongs to another user, as root only can.
func own(name string) func(t *testing.T, work string) {
	return func(t *testing.T, work string) {
		t.Helper()
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		pulltest.Write(t, work, ".precedent/memory.db", "")
		needs.NoError(t, os.Chown(filepath.Join(work, name), 65534, 65534))
	}
}
