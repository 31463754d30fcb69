//go:build unix

package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestProcesses: what a review of commits asks takes six processes of git.
func TestProcesses(t *testing.T) {
	t.Parallel()
	program, err := locate("test", "git")
	if err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(scratch(t), "log")
	counting := filepath.Join(scratch(t), "git")
	needs.WriteProgram(t, counting, "#!/bin/sh\necho \"$1\" >> '"+log+"'\nexec '"+program+"' \"$@\"\n")
	f := newRepo(t)
	f.commit("one", "CLAUDE.md", "Be kind.\n", "dir/a.txt", "1\n")
	f.git("checkout", "-q", "-b", "feature")
	f.commit("two", "dir/a.txt", "2\n")
	f.commit("three", "dir/a.txt", "3\n")
	r := f.openAt(f.dir, Options{Exec: counting, Cache: scratch(t)})
	if _, err := r.RootCommit(context.Background()); err != nil { // reads the history once
		t.Fatal(err)
	}
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	r = f.openAt(f.dir, Options{Exec: counting, Cache: r.options.Cache})
	if _, err := r.RootCommit(context.Background()); err != nil {
		t.Fatal(err)
	}
	rg := resolve(t, r, Spec{Range: "main...HEAD"})
	base, err := r.TrustedBase(context.Background(), rg, "")
	if err != nil || base != f.id("main") {
		t.Errorf("base %s, %v", base, err)
	}
	if err := r.Diff(context.Background(), rg, func(in io.Reader) error { _, err := io.Copy(io.Discard, in); return err }); err != nil {
		t.Fatal(err)
	}
	if found, err := r.Lookup(context.Background(), base, "CLAUDE.md", "dir/CLAUDE.md"); err != nil ||
		len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	for _, rev := range []string{rg.Base, rg.Head} {
		if _, err := blobs(t, r).Read(rev, "dir/a.txt", 10); err != nil {
			t.Error(err)
		}
	}
	if n, err := r.Uncommitted(context.Background(), rg); err != nil || n != 0 {
		t.Errorf("%d uncommitted, %v", n, err)
	}
	said, err := os.ReadFile(log)
	if n := strings.Count(string(said), "\n"); err != nil || n > 6 {
		t.Errorf("%d processes, %v:\n%s", n, err, said)
	}
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
		want, err := r.log(context.Background(), logCommits, head, "^"+base)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := r.between(context.Background(), base, head); !ok || got != want {
			t.Errorf("%v, %q, want %q", ok, got, want)
		}
	}
	same(head)
	same(base)
	if got, ok := r.between(context.Background(), head, base); ok {
		t.Errorf("base is after head: %q", got)
	}
	f.write("message", strings.Repeat("long ", logBytes))
	f.git("commit", "-q", "--allow-empty", "-F", "message")
	same(f.id("HEAD"))
	f.git("-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-m", "encoded")
	if _, ok := r.between(context.Background(), base, f.id("HEAD")); ok {
		t.Error("a message in another encoding was read as UTF-8")
	}
	f.git("checkout", "-q", "-b", "side", base)
	f.commit("side")
	f.git("merge", "-q", "-m", "merge", head)
	if _, ok := r.between(context.Background(), base, f.id("HEAD")); ok {
		t.Error("a merge is no line of commits")
	}
	f.git("checkout", "-q", "-b", "many", base)
	for i := range logCommits + 1 {
		f.git("commit", "-q", "--allow-empty", "-m", fmt.Sprint(i))
	}
	if _, ok := r.between(context.Background(), base, f.id("HEAD")); ok {
		t.Error("too many commits were read")
	}
}
