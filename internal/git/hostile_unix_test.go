//go:build unix

package git

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

func fifo(tb testing.TB, name string) {
	tb.Helper()
	os.Remove(name)
	needs.NoError(tb, os.MkdirAll(filepath.Dir(name), 0o755))
	needs.NoError(tb, syscall.Mkfifo(name, 0o644))
}

// TestHostileWorkTree: pipes, sockets, links and sparse files in a work tree, in the place of tracked files and beside them.
func TestHostileWorkTree(t *testing.T) {
	t.Parallel()
	outside := scratch(t)
	fixture{t, outside}.write("secret.txt", "the secret\n", "dir/a.txt", "the secret\n")
	f := newRepo(t)
	names := []string{"fifo", "socket", "hard", "sparse", "link", "dir/a.txt", "loop/a.txt", "swapped/a.txt", "plain"}
	for _, name := range names {
		f.write(name, "before\n")
	}
	f.commit("one")
	for _, name := range []string{"socket", "hard", "link", "dir", "loop", "swapped"} {
		needs.NoError(t, os.RemoveAll(f.path(name)))
	}
	fifo(t, f.path("fifo"))
	fifo(t, f.path("new-fifo"))
	var config net.ListenConfig
	listener := needs.Value(config.Listen(t.Context(), "unix", f.path("socket")))(t)
	defer listener.Close()
	needs.NoError(t, os.Link(filepath.Join(outside, "secret.txt"), f.path("hard")))
	needs.NoError(t, os.Link(filepath.Join(outside, "secret.txt"), f.path("new-hard")))
	needs.NoError(t, os.Truncate(f.path("sparse"), 3<<30))
	f.write("new-sparse", "")
	needs.NoError(t, os.Truncate(f.path("new-sparse"), 3<<30))
	needs.NoError(t, os.Symlink(filepath.Join(outside, "secret.txt"), f.path("link")))
	needs.NoError(t, os.Symlink("/etc/passwd", f.path("new-link")))
	needs.NoError(t, os.Symlink(filepath.Join(outside, "dir"), f.path("dir")))
	needs.NoError(t, os.Symlink("loop", f.path("loop")))
	f.write("swapped", "a file now\n", "plain", "after\n", "nested/.git/HEAD", "ref: refs/heads/main\n",
		"nested/.git/objects/x", "", "nested/.git/refs/x", "", "nested/n.txt", "n\n")
	r := f.open()
	var rg Range
	bounded(t, func() {
		f.untouched(r, func() { rg = resolve(t, r, Spec{Worktree: true}) })
	})
	wantEqual(t, "changed", changedPaths(t, r, rg), []string{
		"A dir", "D dir/a.txt", "T link", "A loop", "D loop/a.txt", "A new-link", "M plain", "A swapped", "D swapped/a.txt",
	})
	const links = "the file has more than one name (hard links)"
	wantEqual(t, "skipped", rg.Skipped, []skippedFile{
		{Path: "fifo", Reason: "not a regular file"},
		{Path: "hard", Reason: links},
		{Path: "socket", Reason: "not a regular file"},
		{Path: "sparse", Reason: "larger than 8 MiB"},
		{Path: "nested/", Reason: "another repository inside this one"},
		{Path: "new-hard", Reason: links},
		{Path: "new-sparse", Reason: "larger than 8 MiB"},
	})
	if strings.Contains(diffText(t, r, rg), "the secret") {
		t.Error("a file from outside is in the diff")
	}
	b := blobs(t, r)
	for path, want := range map[string]string{"fifo": "before\n", "hard": "before\n", "link": filepath.Join(outside, "secret.txt"), "new-link": "/etc/passwd"} {
		wantRead(t, b, rg.Head, path, want)
	}
	for _, path := range []string{"fifo", "socket", "hard", "link", "dir/a.txt", "loop", "loop/a.txt", "swapped/a.txt"} {
		bounded(t, func() {
			if data, err := r.WorkFile(path, 1000); !errors.Is(err, ErrNotFound) {
				t.Errorf("WorkFile(%s) = %q, %v", path, data, err)
			}
		})
	}
	if _, err := r.WorkFile("sparse", 1000); !errors.Is(err, ErrTooLarge) {
		t.Errorf("WorkFile(sparse): %v", err)
	}
}

// A FIFO wherever git or this package reads a file.
func TestHostileFIFO(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".git", ".git/HEAD", ".git/config", ".git/config.worktree", ".git/index", ".git/sharedindex.0123", ".git/shallow", ".git/commondir", ".git/packed-refs",
		".git/refs/heads/main", ".git/refs/remotes/origin/HEAD", ".git/info/exclude", ".git/info/attributes", ".git/objects/info/alternates",
		".gitignore", ".gitattributes", ".gitmodules", ".git/logs/HEAD", "sub/.git", "included",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := repoOf(t, "a.txt", "1\n")
			f.commit("two", "a.txt", "2\n")
			f.write("a.txt", "3\n", "new.txt", "n\n")
			if name == ".git" {
				needs.NoError(t, os.RemoveAll(f.path(name)))
			}
			if name == "included" {
				appendFile(t, f.path(".git/config"), "[include]\n\tpath = "+f.path(name)+"\n")
			}
			if name == ".git/config.worktree" {
				appendFile(t, f.path(".git/config"), "[extensions]\n\tworktreeConfig = true\n")
			}
			fifo(t, f.path(name))
			bounded(t, func() { everything(t, f.dir, Options{Timeout: 300 * time.Millisecond}) })
		})
	}
	home := scratch(t)
	fifo(t, filepath.Join(home, ".gitconfig"))
	_, err := Open(t.Context(), newRepo(t).dir, Options{Home: home, TempDir: scratch(t)})
	wantError(t, err, "is not a regular file", "")
}

// The error of a wait in vain says what to look for.
func TestHostileFIFOIsNamed(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	fifo(t, f.path(".gitignore"))
	r := f.openAt(f.dir, Options{Timeout: 3 * time.Second}) // what needs no FIFO takes less on the busiest machine
	wantRefused(t, r, Spec{Worktree: true}, "git took longer than 3s", ".gitignore")
}

// Killing a run ends all that it started.
func TestKilledWithItsChildren(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	dir := scratch(t)
	program, held := filepath.Join(dir, "git"), filepath.Join(dir, "held")
	fifo(t, held)
	// The child holds the FIFO's writing end for as long as it lives.
	needs.WriteProgram(t, program, "#!/bin/sh\nsleep 1000 > '"+held+"' &\nsleep 1000\n")
	ctx, kill := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		pipe, err := os.Open(held) // waits for the child
		if kill(); err == nil {
			_, err = io.Copy(io.Discard, pipe)
		}
		gone <- err
	}()
	_, err := Open(ctx, f.dir, Options{Exec: program, TempDir: scratch(t)})
	wantError(t, err, "stopped", "")
	select {
	case err := <-gone:
		needs.NoError(t, err)
	case <-time.After(time.Minute):
		t.Error("a child lives on")
	}
}
