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
		{"none", nil, ""},
		{"origin", [][2]string{{"origin", "git@github.com:acme/shop.git"}}, "github.com/acme/shop"},
		{"upstream wins", [][2]string{{"origin", "https://github.com/me/shop"}, {"upstream", "https://github.com/acme/shop.git/"}}, "github.com/acme/shop"},
		{"others do not count", [][2]string{{"fork", "https://github.com/me/shop"}}, ""},
		{"user and password", [][2]string{{"origin", "https://me:secret@GitHub.com:443/acme/shop"}}, "github.com/acme/shop"},
		{"helper", [][2]string{{"origin", "ext::sh -c touch% marker"}}, ""},
		{"helper, then another", [][2]string{{"upstream", "ext::sh -c a/b/c"}, {"origin", "https://github.com/acme/shop"}}, "github.com/acme/shop"},
		{"SSH port", [][2]string{{"origin", "ssh://git@git.example.com:2222/acme/shop"}}, "git.example.com:2222/acme/shop"},
		{"IPv6", [][2]string{{"origin", "ssh://git@[2001::1]/acme/shop"}}, "[2001::1]/acme/shop"},
		{"nonsense", [][2]string{{"origin", "https://"}}, ""},
		{"alias", [][2]string{{"origin", "ex:acme/shop"}}, "git.example.com/acme/shop"},
		{"longest alias", [][2]string{{"origin", "ex:d/acme/shop"}}, "git.example.com/deep/acme/shop"},
		{"absolute path", [][2]string{{"origin", "/srv/git/shop.git"}}, "file/srv/git/shop"},
		{"file URL", [][2]string{{"origin", "file:///srv/git/shop.git"}}, "file/srv/git/shop"},
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
			wantEqual(t, "identity", id.String(), test.want)
		})
	}
}

// Two clones of one folder are the same repository, wherever they lie and
// however they name it; a linked work tree is no other.
func TestIdentityOfClones(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n")
	a, b := f.clone(), f.clone()
	rel := needs.Value(filepath.Rel(b.dir, f.dir))(t)
	b.git("remote", "set-url", "origin", rel)
	linked := fixture{t, filepath.Join(scratch(t), "linked")}
	b.git("worktree", "add", "-q", "-b", "side", linked.dir)
	var ids []precedent.Repo
	for _, c := range []fixture{a, b, linked} {
		id := needs.Value(c.open().Identity(t.Context(), precedent.ParseRepo))(t)
		ids = append(ids, id)
	}
	if ids[0] != ids[1] || ids[1] != ids[2] || ids[0].Host != "file" {
		t.Errorf("identities %v", ids)
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
	kept, err := filepath.Glob(filepath.Join(cache, "roots", "*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	believed := strings.Repeat("1", 40)
	needs.NoError(t, os.WriteFile(kept[0], []byte(f.git("rev-parse", "HEAD")+" "+believed+"\n"), 0o600))
	ask(believed)
	f.git("checkout", "-q", "-b", "side", "HEAD~1")
	f.commit("four")
	ask(believed)
	f.git("checkout", "-q", "--orphan", "other")
	other := f.commit("another root")
	ask(other)
	f.git("merge", "-q", "--allow-unrelated-histories", "-m", "both", "side")
	ask(other)
	f.git("checkout", "-q", "side")
	ask(root)
	needs.NoError(t, os.WriteFile(kept[0], []byte(strings.Repeat("2", 40)+" "+believed+"\n"), 0o600))
	ask(root) // the commit is gone
}

func TestRemotes(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.git("config", "remote.b.url", "https://user:token@example.com/x/y.git")
	f.git("config", "--add", "remote.b.url", "https://example.com/second")
	f.git("config", "remote.a.url", "git@example.com:x/y.git")
	f.git("config", "remote.dotted.name.url", "ssh://git@example.com:2222/x/y")
	wantEqual(t, "remotes", f.open().Remotes(), []Remote{
		{"a", "git@example.com:x/y.git"}, {"b", "https://example.com/x/y.git"}, {"dotted.name", "ssh://example.com:2222/x/y"},
	})
}
