//go:build unix

package git

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
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
	b := r.Blobs(t.Context())
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
		want := needs.Value(r.log(t.Context(), logCommits, head, "^"+base))(t)
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
	f.write("message", "not \xff UTF-8")
	f.git("-c", "i18n.commitEncoding=none", "commit", "-q", "--allow-empty", "-F", "message")
	not(base, f.id("HEAD"), "a message in another encoding was read as UTF-8")
	log := string(resolve(t, r, Spec{Range: base}).Log)
	if n := len(log); n < logBytes || n > logBytes+16 || strings.ToValidUTF8(log, "") != log {
		t.Errorf("%d bytes of log, want about %d of UTF-8", n, logBytes)
	}
	f.git("checkout", "-q", "-b", "side", base)
	f.commit("side")
	f.git("merge", "-q", "-m", "merge", head)
	not(base, f.id("HEAD"), "a merge is not in one line")
}

// noisy adds a commit to the pull request whose pack has about 200 KB.
func (p *pulls) noisy() {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 150<<10)
	for i := range noise {
		noise[i] = byte('!' + rnd.IntN(90))
	}
	p.push(p.pull.Head, "noise.txt", string(noise))
}

// fetchTwice fetches with a fault, then without it, and expects that nothing of the first fetch is used or left.
func (p *pulls) fetchTwice(t *testing.T, faulty Options) {
	t.Helper()
	folder := scratch(t)
	faulty.TempDir = scratch(t)
	m := needs.Value(OpenMirror(t.Context(), folder, "repo", faulty))(t)
	if rg, err := m.FetchPull(t.Context(), p.pull); err == nil {
		t.Fatalf("the fault had no effect: %+v", rg)
	}
	m.Close()
	m = openMirror(t, folder)
	rg := needs.Value(m.FetchPull(t.Context(), p.pull))(t)
	b := m.Blobs(t.Context())
	needs.Len(t, "Read", 150<<10)(b.Read(rg.Head, "noise.txt", 1<<20))
	for _, pattern := range []string{"*.lock", "objects/pack/tmp_*", "objects/incoming-*"} {
		if left, _ := filepath.Glob(filepath.Join(folder, "repo.git", pattern)); len(left) > 0 {
			t.Errorf("the failed fetch left %q", left)
		}
	}
}

// TestFault17FetchDrops: a fetch whose connection breaks in the middle of the pack fails, and the
// next one gets everything.
func TestFault17FetchDrops(t *testing.T) {
	p := newPulls(t)
	p.noisy()
	whole := p.server.Config.Handler
	var dropped atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/git-upload-pack") || dropped.Load() {
			whole.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		whole.ServeHTTP(answer, r)
		if answer.Body.Len() < 50<<10 { // the negotiation before the pack
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		dropped.Store(true)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	}))
	defer proxy.Close()
	p.pull.URL = strings.Replace(p.pull.URL, p.server.URL, proxy.URL, 1)
	p.fetchTwice(t, Options{})
	if !dropped.Load() {
		t.Error("no pack was cut")
	}
}

// TestFault19DiskFull: a fetch that cannot write its pack fails, and works when there is space.
func TestFault19DiskFull(t *testing.T) {
	p := newPulls(t)
	p.noisy()
	program := needs.Value(exec.LookPath("git"))(t)
	small := filepath.Join(scratch(t), "small-git")
	needs.WriteProgram(t, small, "#!/bin/sh\nulimit -f 40\nexec '"+program+"' \"$@\"\n") // blocks of 512 bytes
	p.fetchTwice(t, Options{Exec: small})
}
