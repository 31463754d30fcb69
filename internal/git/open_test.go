package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

func TestOpenFindsTheRepository(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "a\n", "sub/deep/b.txt", "b\n")
	linked := filepath.Join(scratch(t), "linked")
	f.git("worktree", "add", "-q", "-b", "side", linked)
	bare := filepath.Join(scratch(t), "bare.git")
	f.git("clone", "-q", "--bare", "file://"+f.dir, bare)
	bareLinked := filepath.Join(scratch(t), "of-bare")
	fixture{t, bare}.git("worktree", "add", "-q", "-b", "other", bareLinked)
	apart := filepath.Join(scratch(t), "apart")
	f.git("clone", "-q", "--separate-git-dir", filepath.Join(scratch(t), "admin"), "file://"+f.dir, apart)
	super := newRepo(t)
	super.git("submodule", "add", "-q", "file://"+f.dir, "module")
	byLink := filepath.Join(scratch(t), "by-link")
	needs.NoError(t, os.Symlink(f.path("sub"), byLink))

	for _, test := range []struct{ name, dir, top, main string }{
		{"top", f.dir, f.dir, f.dir},
		{"folder", f.path("sub/deep"), f.dir, f.dir},
		{"folder by a link", byLink, f.dir, f.dir},
		{"inside .git", f.path(".git/refs"), f.dir, f.dir},
		{"linked work tree", linked, linked, f.dir},
		{"bare", bare, "", ""},
		{"inside bare", filepath.Join(bare, "refs"), "", ""},
		{"linked to bare", bareLinked, bareLinked, ""},
		{"separate git folder", apart, apart, apart},
		{"submodule", super.path("module"), super.path("module"), super.path("module")},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := fixture{t, test.dir}.open()
			wantEqual(t, "Top", r.Top(), test.top)
			wantEqual(t, "MainTop", r.MainTop(), test.main)
			rg := resolve(t, r, Spec{Range: "HEAD"})
			wantEqual(t, "head", rg.Head, f.id("HEAD"))
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.write("file", "x")
	moved := filepath.Join(scratch(t), "moved")
	fixture{t, filepath.Dir(moved)}.write("moved/.git", "gitdir: /nowhere/at\x1b/all\n")
	future := newRepo(t)
	future.git("config", "core.repositoryformatversion", "99")
	garbled := newRepo(t)
	garbled.write(".git/config", "[core\n")
	pretender := filepath.Join(scratch(t), "git")
	needs.WriteProgram(t, pretender, "#!/bin/sh\necho 'fatal: \x1b[31mred' >&2; exit 128\n")
	for _, test := range []struct {
		name, dir string
		o         Options
		msg, hint string
	}{
		{"no repository", scratch(t), Options{}, "not inside a git repository", "git init"},
		{"no folder", f.path("nothing"), Options{}, "no such file", ""},
		{"a file", f.path("file"), Options{}, "not a folder", ""},
		{"no git", f.dir, Options{Exec: "git-that-is-not-there"}, "git is not installed", "install git"},
		{"a .git that points nowhere", moved, Options{}, `/nowhere/at\x1b/all, which is not a repository`, "git worktree repair"},
		{"a format of the future", future.dir, Options{}, "", ""},
		{"broken configuration", garbled.dir, Options{}, "bad config", ""},
		{"git fails", f.dir, Options{Exec: pretender}, `\x1b[31mred`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.o.TempDir = scratch(t)
			r, err := Open(t.Context(), test.dir, test.o)
			if err == nil && test.name == "a format of the future" {
				_, err = r.Resolve(t.Context(), Spec{}) // some gits list the configuration all the same
				r.Close()
			}
			wantError(t, err, test.msg, test.hint)
			if left, _ := os.ReadDir(test.o.TempDir); len(left) > 0 {
				t.Errorf("left %v behind", left)
			}
		})
	}
}

// An old git would ignore the walls that are put up by environment variables.
func TestOpenRefusesAnOldGit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script as git")
	}
	f := newRepo(t)
	dir := scratch(t)
	for name, script := range map[string]string{
		"deaf":    "#!/bin/sh\nprintf 'local\\0core.bare\\nfalse\\0'\n",
		"ancient": "#!/bin/sh\necho 'error: unknown option `show-scope' >&2\nexit 129\n",
	} {
		old := filepath.Join(dir, name)
		needs.WriteProgram(t, old, script)
		_, err := Open(t.Context(), f.dir, Options{Exec: old, TempDir: scratch(t)})
		wantError(t, err, "", "git 2.38 or newer")
	}
}

func TestOpenIsCancelled(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Open(ctx, f.dir, Options{TempDir: scratch(t)})
	wantError(t, err, "stopped: context canceled", "")
}

// Nothing of the caller's environment reaches git, whichever variable it is.
func TestEnvironmentDoesNotLeak(t *testing.T) {
	f := newRepo(t)
	first := f.commit("one", "a.txt", "a\n")
	f.commit("two", "a.txt", "b\n")
	other := newRepo(t)
	other.commit("elsewhere", "other.txt", "x\n")
	marker := filepath.Join(scratch(t), "marker")
	script := filepath.Join(scratch(t), "script")
	needs.WriteProgram(t, script, "#!/bin/sh\ntouch '"+marker+"'\n")
	for name, value := range map[string]string{
		"GIT_DIR": other.path(".git"), "GIT_WORK_TREE": other.dir, "GIT_INDEX_FILE": other.path(".git/index"),
		"GIT_OBJECT_DIRECTORY": other.path(".git/objects"), "GIT_COMMON_DIR": other.path(".git"), "GIT_NAMESPACE": "x",
		"GIT_EXTERNAL_DIFF": script, "GIT_PAGER": script, "GIT_SSH_COMMAND": script, "GIT_ASKPASS": script, "GIT_EDITOR": script,
		"GIT_EXEC_PATH": filepath.Dir(script), "GIT_TRACE": marker, "GIT_TRACE2": marker, "GIT_TRACE_SETUP": marker,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": script,
		"GIT_CONFIG_PARAMETERS": "'core.fsmonitor=" + script + "'", "GIT_DIFF_OPTS": "--unified=0", "GIT_CEILING_DIRECTORIES": f.dir,
		"GIT_ATTR_SOURCE": "HEAD", "GIT_DEFAULT_HASH": "sha256", "GIT_REPLACE_REF_BASE": "refs/x", "LD_PRELOAD": "",
	} {
		t.Setenv(name, value)
	}
	r := f.open()
	wantEqual(t, "Top", r.Top(), f.dir)
	rg := resolve(t, r, Spec{})
	wantEqual(t, "base", rg.Base, first)
	if text := diffText(t, r, rg); !strings.Contains(text, "-a\n+b\n") {
		t.Errorf("diff %q", text)
	}
	f.write("new.txt", "new\n")
	wantChanged(t, r, Spec{Worktree: true}, "A new.txt")
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a program or a trace of the caller's environment was used")
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	r := needs.Value(Open(t.Context(), f.dir, Options{TempDir: scratch(t)}))(t)
	b := blobs(t, r)
	if _, err := b.ReadID(strings.Repeat("1", 40), 1); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.ReadID(strings.Repeat("1", 40), 1); !errors.Is(err, errClosed) {
		t.Errorf("a closed repository was read: %v", err)
	}
	if _, err := r.Blobs(t.Context()); err == nil {
		t.Error("a closed repository was read")
	}
}
