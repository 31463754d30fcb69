package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

var filtered template

// partialClone makes a clone that has only the contents of its last commit.
func partialClone(t *testing.T, filter string) (origin, clone fixture) {
	t.Helper()
	dir, _ := filtered.copied(t, func(dir string) []string {
		f := newRepoIn(t, dir)
		appendFile(t, f.path(".git/config"), "[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
		f.commit("one", "a.txt", "1\n", "b.txt", "old\n", "gone.txt", "gone\n", "same.txt", "same\n")
		f.git("rm", "-q", "gone.txt")
		f.commit("two", "a.txt", "2\n", "b.txt", "new\n", "c.txt", "c\n")
		return nil
	})
	origin = fixture{t, filepath.Join(dir, "repo")}
	return origin, origin.clone("--filter=" + filter)
}

func TestPartialClone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name           string
		lazy, promisor bool
		relative       bool // the remote's address is a path
		want           int  // skipped files
	}{
		{"fetches", true, true, false, 0},
		{"fetches from a folder", true, true, true, 0},
		{"may not fetch", false, true, false, 3},
		{"the remote is gone", true, false, false, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			origin, f := partialClone(t, "blob:none")
			base, old := f.id("HEAD~1"), origin.id("HEAD~1:b.txt")
			if test.relative {
				f.git("config", "remote.origin.url", "../../"+filepath.Base(filepath.Dir(origin.dir))+"/repo")
			}
			if !test.promisor {
				needs.NoError(t, os.RemoveAll(origin.dir))
			}
			r := f.openAt(f.dir, Options{Lazy: test.lazy, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}})
			f.untouched(r, func() {
				rg := resolve(t, r, Spec{Range: "HEAD~1"})
				var reasons []skippedFile
				text := diffText(t, r, rg)
				for _, path := range []string{"a.txt", "b.txt", "gone.txt"}[:test.want] {
					reasons = append(reasons, skippedFile{Path: path, Reason: missingReason})
				}
				wantEqual(t, "skipped", rg.Skipped, reasons)
				if fetched := strings.Contains(text, "-old"); fetched != (test.want == 0) ||
					!strings.Contains(text, "+c") {
					t.Errorf("diff %q", text)
				}
				wantEqual(t, "head", rg.Head, f.id("HEAD"))

				b := blobs(t, r)
				if test.want == 0 {
					wantRead(t, b, base, "b.txt", "old\n")
				} else if data, err := b.Read(base, "b.txt", 100); !errors.Is(err, ErrMissing) {
					t.Errorf("read %q, %v", data, err)
				}
				if _, err := b.Read(base, "never.txt", 100); !errors.Is(err, ErrNotFound) {
					t.Errorf("a file that never was: %v", err)
				}
				report, err := r.Export(t.Context(), base, scratch(t), ExportLimits{})
				if err != nil || report.Files != 4-test.want || len(report.Skipped) != test.want {
					t.Errorf("export %+v, %v", report, err)
				}
			})
			if _, err := os.Stat(f.path(".git/objects/" + old[:2] + "/" + old[2:])); err == nil {
				t.Error("the clone was changed")
			}
		})
	}
}

// TestPartialCloneReadsBase: a file of the base that no range needs is fetched when it
// is read, and a failure is not repeated.
func TestPartialCloneReadsBase(t *testing.T) {
	t.Parallel()
	origin, f := partialClone(t, "blob:none")
	r := f.openAt(f.dir, Options{Lazy: true, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}})
	b := blobs(t, r)
	base := f.id("HEAD~1")
	wantRead(t, b, base, "gone.txt", "gone\n")
	moved := origin.dir + ".moved"
	for _, step := range []struct{ from, to string }{{origin.dir, moved}, {moved, origin.dir}} {
		needs.NoError(t, os.Rename(step.from, step.to))
		if _, err := b.Read(base, "b.txt", 100); !errors.Is(err, ErrMissing) {
			t.Errorf("%v", err)
		}
	}
}

// TestTreelessClone: without trees there is nothing to compare.
func TestTreelessClone(t *testing.T) {
	t.Parallel()
	_, f := partialClone(t, "tree:0")
	wantRefused(t, f.open(), Spec{Range: "HEAD~1"}, "the clone is partial and does not have it",
		"git diff --stat "+f.id("HEAD~1")[:12])
}
