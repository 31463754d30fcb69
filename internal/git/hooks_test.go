package git

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestHooks: git's own answer is ours, for every way to name the folder.
func TestHooks(t *testing.T) {
	for _, test := range []struct {
		name   string
		config []string // of the repository
		user   string   // the user's own .gitconfig
		want   string   // below the repository; with a slash before it, below the home folder
		source string
	}{
		{"nothing is said", nil, "", ".git/hooks", "default"},
		{"relative", []string{"my hooks"}, "", "my hooks", "repository"},
		{"the user's", nil, "[core]\n\thooksPath = ~/all", "/all", "user"},
		{"the repository before the user", []string{"mine"}, "[core]\n\thooksPath = ~/all", "mine", "repository"},
		{"the last counts", []string{"a", "b"}, "", "b", "repository"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newRepo(t)
			home := scratch(t)
			fixture{t, home}.write(".gitconfig", test.user)
			for _, dir := range test.config {
				f.git("config", "--add", "core.hooksPath", dir)
			}
			r := f.openAt(f.dir, Options{Home: home})
			want := filepath.Join(f.dir, test.want)
			if test.want[0] == '/' {
				want = filepath.Join(home, test.want)
			}
			got, err := r.Hooks()
			if err != nil || got != (Hooks{want, test.source}) {
				t.Errorf("hooks %+v, %v; want %s by the %s", got, err, want, test.source)
			}
		})
	}
	f := newRepo(t)
	f.git("config", "core.hooksPath", "~somebody/hooks")
	r := f.open()
	var told *Error
	if h, err := r.Hooks(); !errors.As(err, &told) || told.Hint == "" {
		t.Errorf("somebody's home folder was found: %+v, %v", h, err)
	}
}

// TestDefaultBranch: the remote's HEAD, else its main or master.
func TestDefaultBranch(t *testing.T) {
	f := newRepo(t)
	one := f.commit("one", "a.txt", "1\n")
	two := f.commit("two", "a.txt", "2\n")
	r := f.open()
	expect := func(remote, want string) {
		t.Helper()
		needs.Result(t, remote, want)(r.DefaultBranch(t.Context(), remote))
	}
	expect("origin", "")
	f.git("update-ref", "refs/remotes/origin/master", one)
	expect("origin", one)
	f.git("update-ref", "refs/remotes/origin/trunk", two)
	f.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	expect("origin", two)
	expect("https://example.org/team/app", "")
	expect("a\nHEAD", "")
}

// TestWhole: everything of a revision is new, the first commit included.
func TestWhole(t *testing.T) {
	f := repoOf(t, "a.txt", "1\n")
	head := f.commit("two", "b.txt", "2\n")
	r := f.open()
	rg := resolve(t, r, Spec{Whole: "main"})
	if rg.Base != r.hash.emptyTree() || rg.Head != head || rg.BaseCommit != "" || rg.Kind != Commits {
		t.Errorf("range %+v", rg)
	}
	wantRefused(t, r, Spec{Whole: "nothing"}, "", "")
}

func TestVersion(t *testing.T) {
	version, good, err := Version(t.Context(), Options{})
	if err != nil || !good || version == "" {
		t.Errorf("version %q, good %t, %v", version, good, err)
	}
	var told *Error
	if _, _, err := Version(t.Context(), Options{Exec: "/nowhere/git"}); !errors.As(err, &told) || told.Hint == "" {
		t.Errorf("a git that is not there: %v", err)
	}
	for version, want := range map[string]bool{
		"2.37.9": false, "2.38": true, "2.38.0": true, "2.47.1.windows.2": true, "3.0": true, "1.99": false, "2": false, "dirty": false, "2.x": false,
	} {
		if got := notBefore(version, Oldest); got != want {
			t.Errorf("%s is good: %t, want %t", version, got, want)
		}
	}
}
