package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every case of what is reviewed when no range is given.
func TestDefaultRange(t *testing.T) {
	t.Parallel()
	type want struct {
		kind                       Kind
		base, head                 string // revisions; "tree" for a snapshot, "empty" for the empty tree
		baseName, headName, whyHas string
	}
	for _, test := range []struct {
		name  string
		setUp func(origin, f fixture)
		want  want
	}{
		{
			"fresh clone", func(_, _ fixture) {},
			want{LastCommit, "HEAD~1", "HEAD", "^", "main", "main adds nothing to origin/main, nothing is uncommitted: the last commit"},
		},
		{
			"ahead of the upstream", func(_, f fixture) { f.commit("more", "m.txt", "m\n") },
			want{Commits, "origin/main", "HEAD", "origin/main", "main", "what main adds to origin/main"},
		},
		{"ahead and behind", func(o, f fixture) {
			o.commit("theirs", "t.txt", "t\n")
			f.commit("ours", "o.txt", "o\n")
			f.git("fetch", "-q")
		}, want{Commits, "origin/main~1", "HEAD", "origin/main", "main", "what main adds"}},
		{"ahead with a dirty work tree", func(_, f fixture) {
			f.commit("more", "m.txt", "m\n")
			f.write("a.txt", "dirty\n")
		}, want{Branch, "origin/main", "tree", "origin/main", "main and working tree", "what main adds to origin/main, and what is not committed"}},
		{"behind", func(o, f fixture) {
			o.commit("theirs", "t.txt", "t\n")
			f.git("fetch", "-q")
		}, want{LastCommit, "HEAD~1", "HEAD", "^", "main", "the last commit"}},
		{"upstream of another name", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--track", "origin/main")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "origin/main", "HEAD", "origin/main", "feature", "what feature adds to origin/main"}},
		{"local upstream", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--track", "main")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "main", "HEAD", "main", "feature", "what feature adds to main"}},
		{"no upstream", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--no-track")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "origin/main", "HEAD", "origin/main", "feature", "what feature adds to origin/main"}},
		{"upstream is gone", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--no-track")
			f.git("config", "branch.feature.remote", "origin")
			f.git("config", "branch.feature.merge", "refs/heads/feature")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "origin/main", "HEAD", "origin/main", "feature", "what feature adds to origin/main"}},
		{"no remote, main", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--no-track")
			f.git("remote", "remove", "origin")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "main", "HEAD", "main", "feature", "what feature adds to main"}},
		{"no remote, master", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "feature", "--no-track")
			f.git("remote", "remove", "origin")
			f.git("branch", "-q", "-m", "main", "master")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "master", "HEAD", "master", "feature", "what feature adds to master"}},
		{"main beside an old master", func(_, f fixture) {
			f.git("remote", "remove", "origin")
			f.git("branch", "-q", "master", "HEAD~1")
		}, want{LastCommit, "HEAD~1", "HEAD", "^", "main", "nothing is uncommitted: the last commit"}},
		{"detached, ahead", func(_, f fixture) {
			f.git("checkout", "-q", "--detach")
			f.commit("more", "m.txt", "m\n")
		}, want{Commits, "origin/main", "HEAD", "origin/main", "", "adds to origin/main"}},
		{
			"detached, behind", func(_, f fixture) { f.git("checkout", "-q", "--detach", "HEAD~1") },
			want{LastCommit, "empty", "HEAD", emptyTreeName, "", "the last commit"},
		},
		{
			"dirty", func(_, f fixture) { f.write("a.txt", "dirty\n") },
			want{Worktree, "HEAD", "tree", "HEAD", "working tree", "main adds nothing to origin/main: what is not committed"},
		},
		{
			"staged only", func(_, f fixture) { f.write("a.txt", "dirty\n"); f.git("add", "a.txt") },
			want{Worktree, "HEAD", "tree", "HEAD", "working tree", "what is not committed"},
		},
		{
			"untracked only", func(_, f fixture) { f.write("new.txt", "new\n") },
			want{Worktree, "HEAD", "tree", "HEAD", "working tree", "what is not committed"},
		},
		{"ignored only", func(_, f fixture) {
			f.write(".git/info/exclude", "*.o\n", "x.o", "x")
		}, want{LastCommit, "HEAD~1", "HEAD", "^", "main", "nothing is uncommitted"}},
		{"touched only", func(_, f fixture) {
			f.write("a.txt", "2\n")
		}, want{LastCommit, "HEAD~1", "HEAD", "^", "main", "nothing is uncommitted"}},
		{"root commit", func(_, f fixture) {
			f.git("remote", "remove", "origin")
			f.git("checkout", "-q", "--orphan", "fresh")
			f.git("branch", "-q", "-D", "main")
			f.commit("root")
		}, want{LastCommit, "empty", "HEAD", emptyTreeName, "fresh", "no range was given, nothing is uncommitted: the last commit"}},
		{"unrelated to the default branch", func(_, f fixture) {
			f.git("checkout", "-q", "--orphan", "island")
			f.commit("root")
		}, want{LastCommit, "empty", "HEAD", emptyTreeName, "island", "the last commit"}},
		{"merge commit", func(_, f fixture) {
			f.git("remote", "remove", "origin")
			f.git("checkout", "-q", "-b", "x", "HEAD~1")
			f.commit("x", "x.txt", "x\n")
			f.git("checkout", "-q", "main")
			f.git("merge", "-q", "--no-ff", "-m", "merge", "x")
		}, want{LastCommit, "HEAD^1", "HEAD", "^", "main", "the last commit"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			origin, f := newClone(t)
			test.setUp(origin, f)
			r := f.open()
			rg := resolve(t, r, Spec{})
			wantBase := sha1Hash.emptyTree()
			if test.want.base != "empty" {
				wantBase = f.id(test.want.base)
			}
			wantEqual(t, "kind", rg.Kind, test.want.kind)
			wantEqual(t, "base", rg.Base, wantBase)
			if test.want.head != "tree" {
				wantEqual(t, "head", rg.Head, f.id(test.want.head))
			} else if kind := f.id(rg.Base + "^{tree}"); kind == rg.Head {
				t.Error("the work tree equals the commit")
			}
			if test.want.base == "empty" {
				wantBase = ""
			}
			wantEqual(t, "commit of the guide", rg.BaseCommit, wantBase)
			if !strings.HasSuffix(rg.BaseName, test.want.baseName) ||
				test.want.headName != "" && rg.HeadName != test.want.headName {
				t.Errorf(
					"names %q and %q, want %q and %q", rg.BaseName, rg.HeadName, test.want.baseName,
					test.want.headName,
				)
			}
			if test.want.headName == "" && !strings.HasPrefix(rg.Head, rg.HeadName) {
				t.Errorf("name %q of a detached head", rg.HeadName)
			}
			if !strings.Contains(rg.Why, test.want.whyHas) {
				t.Errorf("why %q, want %q", rg.Why, test.want.whyHas)
			}
			diffText(t, r, rg)
		})
	}
}

func TestDefaultRangeOfAnEmptyRepository(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	r := f.open()
	for _, spec := range []Spec{{}, {Committed: true}, {Range: "HEAD~1"}, {Range: "HEAD"}, {Commit: "HEAD"}} {
		_, err := r.Resolve(context.Background(), spec)
		wantError(t, err, "no commits yet", "--staged")
	}
	// What the hint names works, and without a commit nothing else can be meant.
	f.write("a.txt", "a\n")
	wantEqual(t, "chosen", changedPaths(t, r, resolve(t, r, Spec{})), []string{"A a.txt"})
	rg := resolve(t, r, Spec{Worktree: true})
	wantEqual(t, "base", rg.Base, sha1Hash.emptyTree())
	wantEqual(t, "guide", rg.BaseCommit, "")
	wantEqual(t, "work tree", changedPaths(t, r, rg), []string{"A a.txt"})
	wantEqual(t, "nothing is staged", changedPaths(t, r, resolve(t, r, Spec{Staged: true})), nil)
	f.git("add", ".")
	wantEqual(t, "staged", changedPaths(t, r, resolve(t, r, Spec{Staged: true})), []string{"A a.txt"})
}

func TestDefaultRangeOfABareRepository(t *testing.T) {
	t.Parallel()
	f, _, two, _ := forked(t)
	c := fixture{t, filepath.Join(scratch(t), "bare.git")}
	f.git("clone", "-q", "--bare", "file://"+f.dir, c.dir)
	r := c.open()
	rg := resolve(t, r, Spec{})
	wantEqual(t, "kind", rg.Kind, LastCommit)
	wantEqual(t, "head", rg.Head, two)
	for _, spec := range []Spec{{Staged: true}, {Worktree: true}} {
		_, err := r.Resolve(context.Background(), spec)
		wantError(t, err, "the repository is bare", "A..B")
	}
}

// With a work tree that is said to be elsewhere, nothing there is read.
func TestWorkTreeElsewhere(t *testing.T) {
	t.Parallel()
	f, _, _, _ := forked(t)
	other := scratch(t)
	if err := os.WriteFile(filepath.Join(other, "secret"), []byte("s"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.git("config", "core.worktree", other)
	r := f.open()
	wantEqual(t, "Top", r.Top(), f.dir)
	_, err := r.Resolve(context.Background(), Spec{Worktree: true})
	wantError(t, err, "core.worktree names "+other, "--staged")
	wantEqual(t, "kind", resolve(t, r, Spec{}).Kind, LastCommit)
	resolve(t, r, Spec{Staged: true})
}

// What a range up to HEAD leaves out of the work tree.
func TestUncommitted(t *testing.T) {
	t.Parallel()
	f := newRepo(t)
	f.commit("one", "a.txt", "1\n", "b.txt", "1\n")
	f.commit("two", "a.txt", "2\n")
	f.write("a.txt", "3\n")
	f.git("add", "a.txt")
	f.write("b.txt", "2\n", "new.txt", "new\n", ".git/info/exclude", "*.o\n", "x.o", "x")
	r := f.open()
	for _, test := range []struct {
		spec Spec
		want int
	}{
		{Spec{Range: "HEAD~1"}, 3},
		{Spec{Commit: "HEAD"}, 3},
		{Spec{Committed: true}, 3},
		{Spec{Staged: true}, 2},
		{Spec{Worktree: true}, 0},
		{Spec{Range: "HEAD~1..HEAD~1"}, 0},
		{Spec{Commit: "HEAD~1"}, 0},
	} {
		got, err := r.Uncommitted(t.Context(), resolve(t, r, test.spec))
		if err != nil || got != test.want {
			t.Errorf("%+v: %d, %v, want %d", test.spec, got, err, test.want)
		}
	}
}
