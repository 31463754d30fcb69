package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
)

func diffOf(t *testing.T, r *Repo, rg Range) string {
	t.Helper()
	var text []byte
	if err := r.Diff(context.Background(), rg, func(in io.Reader) (err error) { text, err = io.ReadAll(in); return err }); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// partialClone makes a clone that has only the contents of its last commit.
func partialClone(t *testing.T, filter string) (origin, clone fixture) {
	t.Helper()
	origin = newRepo(t)
	origin.git("config", "uploadpack.allowFilter", "true")
	origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
	origin.commit("one", "a.txt", "1\n", "b.txt", "old\n", "gone.txt", "gone\n", "same.txt", "same\n")
	origin.git("rm", "-q", "gone.txt")
	origin.commit("two", "a.txt", "2\n", "b.txt", "new\n", "c.txt", "c\n")
	clone = fixture{t, filepath.Join(scratch(t), "clone")}
	origin.git("clone", "-q", "--filter="+filter, "file://"+origin.dir, clone.dir)
	return origin, clone
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
				if err := os.RemoveAll(origin.dir); err != nil {
					t.Fatal(err)
				}
			}
			r := f.openAt(f.dir, Options{Lazy: test.lazy, LazyEnv: []string{"PATH=" + os.Getenv("PATH")}})
			f.untouched(r, func() {
				rg := resolve(t, r, Spec{Range: "HEAD~1"})
				var reasons []precedent.SkippedFile
				text := diffOf(t, r, rg)
				if test.want > 0 {
					for _, path := range []string{"a.txt", "b.txt", "gone.txt"} {
						reasons = append(reasons, precedent.SkippedFile{Path: path, Reason: missingReason})
					}
				}
				wantEqual(t, "skipped", rg.Skipped, reasons)
				if fetched := strings.Contains(text, "-old"); fetched != (test.want == 0) ||
					!strings.Contains(text, "+c") {
					t.Errorf("diff %q", text)
				}
				wantEqual(t, "head", rg.Head, f.id("HEAD"))

				b, err := r.Blobs(context.Background())
				if err != nil {
					t.Fatal(err)
				}
				data, err := b.Read(base, "b.txt", 100)
				if test.want == 0 && string(data) != "old\n" || test.want > 0 && !errors.Is(err, ErrMissing) {
					t.Errorf("read %q, %v", data, err)
				}
				if _, err := b.Read(base, "never.txt", 100); !errors.Is(err, ErrNotFound) {
					t.Errorf("a file that never was: %v", err)
				}
				dir := scratch(t)
				report, err := r.Export(context.Background(), base, dir, ExportLimits{})
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
	b, err := r.Blobs(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	base := f.id("HEAD~1")
	if data, err := b.Read(base, "gone.txt", 100); err != nil || string(data) != "gone\n" {
		t.Errorf("%q, %v", data, err)
	}
	moved := origin.dir + ".moved"
	for _, step := range []struct{ from, to string }{{origin.dir, moved}, {moved, origin.dir}} {
		if err := os.Rename(step.from, step.to); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(base, "b.txt", 100); !errors.Is(err, ErrMissing) {
			t.Errorf("%v", err)
		}
	}
}

// TestTreelessClone: without trees there is nothing to compare.
func TestTreelessClone(t *testing.T) {
	t.Parallel()
	_, f := partialClone(t, "tree:0")
	_, err := f.open().Resolve(context.Background(), Spec{Range: "HEAD~1"})
	wantError(t, err, "the clone is partial and does not have it", "git diff --stat "+f.id("HEAD~1")[:12])
}

// TestShallowBase: a base that a shallow clone lacks is said to be missing, with the
// command that fetches it.
func TestShallowBase(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	one := origin.commit("one", "a.txt", "1\n")
	origin.commit("two", "a.txt", "2\n")
	origin.git("branch", "feature")
	f := fixture{t, filepath.Join(scratch(t), "clone")}
	origin.git("clone", "-q", "--depth=1", "file://"+origin.dir, f.dir)
	for _, text := range []string{one, "HEAD~1", one + "..HEAD"} {
		_, err := f.open().Resolve(context.Background(), Spec{Range: text})
		wantError(
			t, err, "unknown revision",
			"the clone is shallow; fetch the missing history: git fetch --unshallow origin",
		)
	}
	_, err := f.open().Resolve(context.Background(), Spec{})
	wantError(t, err, "the clone is shallow: it lacks the parent", "git fetch --deepen=1 origin")
}
