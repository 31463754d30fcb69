package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
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
	hostile := repoOf(t, "a.txt", "1\n") // what it shares with another one does not make it a part of that
	hostile.write(".git/commondir", f.path(".git")+"\n", ".git/gitdir", f.path(".git")+"\n")
	byLink := filepath.Join(scratch(t), "by-link")
	needs.NoError(t, os.Symlink(f.path("sub"), byLink))

	for _, test := range []struct{ name, dir, top, main string }{
		{"folder", f.path("sub/deep"), f.dir, f.dir},
		{"folder by a link", byLink, f.dir, f.dir},
		{"inside .git", f.path(".git/refs"), f.dir, f.dir},
		{"linked work tree", linked, linked, f.dir},
		{"bare", bare, "", ""},
		{"linked to bare", bareLinked, bareLinked, ""},
		{"separate git folder", apart, apart, apart},
		{"hostile common folder", hostile.dir, hostile.dir, hostile.dir},
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
	deaf, ancient := filepath.Join(scratch(t), "deaf"), filepath.Join(scratch(t), "ancient")
	needs.WriteProgram(t, deaf, "#!/bin/sh\nprintf 'local\\0core.bare\\nfalse\\0'\n")
	needs.WriteProgram(t, ancient, "#!/bin/sh\necho 'error: unknown option `show-scope' >&2\nexit 129\n")
	for _, test := range []struct {
		name, dir string
		o         Options
		msg, hint string
	}{
		{"no repository", scratch(t), Options{}, "not inside a git repository", "git init"},
		{"a file", f.path("file"), Options{}, "not a folder", ""},
		{"no git", f.dir, Options{Exec: "git-that-is-not-there"}, "git is not installed", "install git"},
		{"a .git that points nowhere", moved, Options{}, `/nowhere/at\x1b/all, which is not a repository`, "git worktree repair"},
		{"a format of the future", future.dir, Options{}, "", ""},
		{"broken configuration", garbled.dir, Options{}, "bad config", ""},
		{"git fails", f.dir, Options{Exec: pretender}, `\x1b[31mred`, ""},
		// An old git would ignore the walls that are put up by environment variables.
		{"git ignores settings", f.dir, Options{Exec: deaf}, "", "git 2.38 or newer"},
		{"git knows no option", f.dir, Options{Exec: ancient}, "", "git 2.38 or newer"},
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

// TestHooks: git's own answer is ours, for every way to name the folder.
func TestHooks(t *testing.T) {
	for _, test := range []struct {
		name, config string // of the repository
		user         string // the user's own .gitconfig
		want         string // below the repository; with a slash before it, below the home folder
		source       string
	}{
		{"default", "", "", ".git/hooks", "default"},
		{"the user's", "", "[core]\n\thooksPath = ~/all", "/all", "user"},
		{"the repository before the user", "my hooks", "[core]\n\thooksPath = ~/all", "my hooks", "repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newRepo(t)
			home := scratch(t)
			fixture{t, home}.write(".gitconfig", test.user)
			if test.config != "" {
				f.git("config", "core.hooksPath", test.config)
			}
			want := filepath.Join(f.dir, test.want)
			if test.want[0] == '/' {
				want = filepath.Join(home, test.want)
			}
			needs.Result(t, "hooks", Hooks{want, test.source})(f.openAt(f.dir, Options{Home: home}).Hooks())
		})
	}
	f := newRepo(t)
	f.git("config", "core.hooksPath", "~somebody/hooks")
	_, err := f.open().Hooks()
	wantError(t, err, "which only git can resolve", "absolute path")
}

func TestVersion(t *testing.T) {
	version, good, err := Version(t.Context(), Options{})
	if err != nil || !good || version == "" {
		t.Errorf("version %q, good %t, %v", version, good, err)
	}
	_, _, err = Version(t.Context(), Options{Exec: "/nowhere/git"})
	wantError(t, err, "not installed", "install git")
	for version, want := range map[string]bool{
		"2.37.9": false, "2.38": true, "2.38.0": true, "2.47.1.windows.2": true, "3.0": true, "1.99": false, "2": false, "dirty": false, "2.x": false,
	} {
		wantEqual(t, version, notBefore(version, Oldest), want)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	home := scratch(t)
	fixture{t, home}.write(".gitconfig", "[url \"https://git.example.com/\"]\n\tinsteadOf = ex:\n"+
		"[url \"https://git.example.com/deep/\"]\n\tinsteadOf = ex:d/\n")
	for _, test := range []struct {
		name    string
		remotes [][2]string
		want    string // empty for the root commit
	}{
		{"origin", [][2]string{{"origin", "git@github.com:acme/shop.git"}}, "github.com/acme/shop"},
		{"upstream wins", [][2]string{{"origin", "https://github.com/me/shop"}, {"upstream", "https://github.com/acme/shop.git/"}}, "github.com/acme/shop"},
		{"others do not count", [][2]string{{"fork", "https://github.com/me/shop"}}, ""},
		{"user and password", [][2]string{{"origin", "https://me:secret@GitHub.com:443/acme/shop"}}, "github.com/acme/shop"},
		{"helper", [][2]string{{"origin", "ext::sh -c touch% marker"}}, ""},
		{"helper, then another", [][2]string{{"upstream", "ext::sh -c a/b/c"}, {"origin", "https://github.com/acme/shop"}}, "github.com/acme/shop"},
		{"SSH port", [][2]string{{"origin", "ssh://git@git.example.com:2222/acme/shop"}}, "git.example.com:2222/acme/shop"},
		{"IPv6", [][2]string{{"origin", "ssh://git@[2001::1]/acme/shop"}}, "[2001::1]/acme/shop"},
		{"alias", [][2]string{{"origin", "ex:acme/shop"}}, "git.example.com/acme/shop"},
		{"longest alias", [][2]string{{"origin", "ex:d/acme/shop"}}, "git.example.com/deep/acme/shop"},
		{"file URL", [][2]string{{"origin", "file:///srv/git/shop.git"}}, "file/srv/git/shop"},
		{"relative path", [][2]string{{"origin", "../shop.git"}}, "fileBESIDE/shop"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f, _ := newClone(t)
			// The repository's own aliases have no say.
			config := "[url \"https://evil.example/\"]\n\tinsteadOf = https://github.com/\n" +
				"[url \"https://evil.example/x/\"]\n\tinsteadOf = ex:acme/\n"
			for _, remote := range test.remotes {
				config += fmt.Sprintf("[remote %q]\n\turl = %s\n", remote[0], remote[1])
			}
			appendFile(t, f.path(".git/config"), config)
			if test.want == "" {
				test.want = "local/root/" + f.id("HEAD~1")
			}
			id := needs.Value(f.openAt(f.dir, Options{Home: home}).Identity(t.Context(), precedent.ParseRepo))(t)
			wantEqual(t, "identity", id.String(), strings.Replace(test.want, "BESIDE", filepath.Dir(f.dir), 1))
		})
	}
}

func TestIdentityIsUnknown(t *testing.T) {
	t.Parallel()
	f, _, _, _ := forked(t)
	_, err := newRepo(t).open().Identity(t.Context(), precedent.ParseRepo)
	wantError(t, err, "no commits yet", "")
	c := f.clone("--depth", "1")
	c.git("remote", "rename", "origin", "other")
	_, err = c.open().Identity(t.Context(), precedent.ParseRepo)
	wantError(t, err, "the clone is shallow", "git fetch --unshallow other")
}

// TestRootCommitIsKept: the whole history is read once. Later, only the commits since are,
// also on another branch, and a history with another root has that one.
func TestRootCommitIsKept(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	root := f.commit("root")
	for _, name := range []string{"two", "three"} {
		f.commit(name)
	}
	cache := scratch(t)
	ask := func(want string) {
		t.Helper()
		r := f.openAt(f.dir, Options{Cache: cache})
		needs.Result(t, "RootCommit", want)(r.RootCommit(t.Context()))
	}
	ask(root)
	// A root that is kept is believed: reading the history again would contradict it.
	kept := needs.Value(filepath.Glob(filepath.Join(cache, "roots", "*")))(t)
	needs.Equal(t, 1, len(kept))
	believed := strings.Repeat("1", 40)
	needs.NoError(t, os.WriteFile(kept[0], []byte(f.git("rev-parse", "HEAD")+" "+believed+"\n"), 0o600))
	f.git("checkout", "-q", "-b", "side", "HEAD~1")
	f.commit("four")
	ask(believed)
	f.git("checkout", "-q", "--orphan", "other")
	ask(f.commit("another root"))
	f.git("checkout", "-q", "side")
	needs.NoError(t, os.WriteFile(kept[0], []byte(strings.Repeat("2", 40)+" "+believed+"\n"), 0o600))
	ask(root) // the commit is gone
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.git("config", "remote.b.url", "https://user:token@example.com/x/y.git")
	f.git("config", "remote.a.url", "git@example.com:x/y.git")
	wantEqual(t, "remotes", f.open().Remotes(), []Remote{
		{"a", "git@example.com:x/y.git"}, {"b", "https://example.com/x/y.git"},
	})
}
