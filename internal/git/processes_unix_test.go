//go:build unix

package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestProcesses: what a review asks takes six processes of git.
func TestProcesses(t *testing.T) {
	t.Parallel()
	program, err := locate("test", "git")
	needs.NoError(t, err)
	log := filepath.Join(scratch(t), "log")
	counting := filepath.Join(scratch(t), "git")
	needs.WriteProgram(t, counting, "#!/bin/sh\necho \"$1\" >> '"+log+"'\nexec '"+program+"' \"$@\"\n")
	f := repoOf(t, "CLAUDE.md", "Be kind.\n", "dir/a.txt", "1\n")
	f.git("checkout", "-q", "-b", "feature")
	f.commit("two", "dir/a.txt", "2\n")
	f.commit("three", "dir/a.txt", "3\n")
	cache := scratch(t)
	if _, err := f.openAt(f.dir, Options{Cache: cache}).RootCommit(t.Context()); err != nil { // reads the history once
		t.Fatal(err)
	}
	review := func(name string, spec Spec, uncommitted int) {
		t.Helper()
		r := f.openAt(f.dir, Options{Exec: counting, Cache: cache})
		if _, err := r.RootCommit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if found, err := r.Tracked(t.Context(), ".memory"); err != nil || found != "" {
			t.Errorf("%s: tracked %q, %v", name, found, err)
		}
		rg := resolve(t, r, spec)
		base, err := r.TrustedBase(t.Context(), rg, "")
		if err != nil || base != f.id("main") {
			t.Errorf("%s: base %s, %v", name, base, err)
		}
		needs.NoError(t, r.Diff(t.Context(), rg, discard))
		if found, err := r.Lookup(t.Context(), base, "CLAUDE.md", "dir/CLAUDE.md"); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		for _, rev := range []string{rg.Base, rg.Head} {
			if _, err := blobs(t, r).Read(rev, "dir/a.txt", 10); err != nil {
				t.Error(err)
			}
		}
		if n, err := r.Uncommitted(t.Context(), rg); err != nil || n != uncommitted {
			t.Errorf("%s: %d uncommitted, %v", name, n, err)
		}
		if report, err := r.Export(t.Context(), rg.Head, scratch(t), ExportLimits{}); err != nil || report.Files < 2 {
			t.Errorf("%s: exported %+v, %v", name, report, err)
		}
		said, err := os.ReadFile(log)
		if n := strings.Count(string(said), "\n"); err != nil || n > 6 {
			t.Errorf("%s: %d processes, %v:\n%s", name, n, err, said)
		}
		needs.NoError(t, os.Remove(log))
	}
	review("a range", Spec{Range: "main...HEAD"}, 0)
	review("chosen", Spec{}, 0)
	f.write("dir/a.txt", "4\n", "new.txt", "new\n")
	review("a range before uncommitted changes", Spec{Range: "main...HEAD"}, 2)
}

// TestBetween: messages that are read without git log are those of git log.
func TestBetween(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	base := f.commit("root")
	for _, message := range []string{"one", "two\n\nWith a body\n\n\nof lines.\n", "\n\n  three\n", "", "ümlaut €", "a\n\nSigned-off-by: A <a@example.com>"} {
		f.git("commit", "-q", "--allow-empty", "--allow-empty-message", "--cleanup=verbatim", "-m", message)
	}
	head := f.id("HEAD")
	r := f.open()
	same := func(head string) {
		t.Helper()
		want, err := r.log(t.Context(), logCommits, head, "^"+base)
		needs.NoError(t, err)
		if got, ok := r.between(t.Context(), base, head); !ok || got != want {
			t.Errorf("%v, %q, want %q", ok, got, want)
		}
	}
	same(head)
	same(base)
	not := func(from, to, why string) {
		t.Helper()
		if got, ok := r.between(t.Context(), from, to); ok {
			t.Errorf("%s: %q", why, got)
		}
	}
	not(head, base, "base is after head")
	f.write("message", strings.Repeat("long ", logBytes))
	f.git("commit", "-q", "--allow-empty", "-F", "message")
	same(f.id("HEAD"))
	f.git("-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-m", "encoded")
	not(base, f.id("HEAD"), "a message in another encoding was read as UTF-8")
	f.git("checkout", "-q", "-b", "side", base)
	f.commit("side")
	f.git("merge", "-q", "-m", "merge", head)
	not(base, f.id("HEAD"), "a merge is not in one line")
	var many strings.Builder
	for i := range logCommits + 1 {
		fmt.Fprintf(&many, "commit refs/heads/many\ncommitter A <a@example.com> 1 +0000\ndata 1\n%d\n", i%10)
		if i == 0 {
			fmt.Fprintf(&many, "from %s\n", base)
		}
	}
	f.load(many.String())
	not(base, f.id("many"), "too many commits were read")
}
