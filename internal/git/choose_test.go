package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// Every case of what is reviewed when no range is given.
func TestDefaultRange(t *testing.T) {
	t.Parallel()
	type want struct {
		kind                       Kind
		base, head                 string // revisions; "tree" for a snapshot, "empty" for the empty tree
		baseName, headName, whyHas string
	}
	const noTrack, alone = "checkout -q -b feature --no-track; ", "remote remove origin; "
	adds := func(branch, base, why string) want { return want{Commits, base, "HEAD", base, branch, why} }
	feature := func(base string) want { return adds("feature", base, "what feature adds to "+base) }
	last := func(why string) want { return want{LastCommit, "HEAD~1", "HEAD", "^", "main", why} }
	first := func(branch, why string) want { return want{LastCommit, "empty", "HEAD", emptyTreeName, branch, why} }
	dirty := func(why string) want { return want{Worktree, "HEAD", "tree", "HEAD", "working tree", why} }
	for _, test := range []struct {
		name, steps string
		want        want
	}{
		{"fresh clone", "", last("main adds nothing to origin/main, nothing is uncommitted: the last commit")},
		{"ahead of the upstream", "commit m.txt", adds("main", "origin/main", "what main adds to origin/main")},
		{"ahead and behind", "commit o.txt; theirs", want{Commits, "origin/main~1", "HEAD", "origin/main", "main", "what main adds"}},
		{
			"ahead with a dirty work tree", "commit m.txt; write a.txt dirty",
			want{Branch, "origin/main", "tree", "origin/main", "main and working tree", "what main adds to origin/main, and what is not committed"},
		},
		{"behind", "theirs", last("the last commit")},
		{"upstream of another name", "checkout -q -b feature --track origin/main; commit m.txt", feature("origin/main")},
		{"local upstream", "checkout -q -b feature --track main; commit m.txt", feature("main")},
		{"no upstream", noTrack + "commit m.txt", feature("origin/main")},
		{"upstream is gone", noTrack + "config branch.feature.remote origin; " +
			"config branch.feature.merge refs/heads/feature; commit m.txt", feature("origin/main")},
		{"upstream of a fork's branch", toFork, adds("theirs", "origin/main", "what theirs adds")},
		{"no remote, main", noTrack + alone + "commit m.txt", feature("main")},
		{"no remote, master", noTrack + alone + "branch -q -m main master; commit m.txt", feature("master")},
		{"main beside an old master", alone + "branch -q master HEAD~1", last("nothing is uncommitted: the last commit")},
		{"detached, ahead", "checkout -q --detach; commit m.txt", adds("", "origin/main", "adds to origin/main")},
		{"detached, behind", "checkout -q --detach HEAD~1", first("", "the last commit")},
		{"dirty", "write a.txt dirty", dirty("main adds nothing to origin/main: what is not committed")},
		{"staged only", "write a.txt dirty; add a.txt", dirty("what is not committed")},
		{"untracked only", "write new.txt new", dirty("what is not committed")},
		{"ignored only", "write .git/info/exclude *.o; write x.o x", last("nothing is uncommitted")},
		{"touched only", "write a.txt 2", last("nothing is uncommitted")},
		{
			"root commit", alone + "checkout -q --orphan fresh; branch -q -D main; commit",
			first("fresh", "no range was given, nothing is uncommitted: the last commit"),
		},
		{"unrelated to the default branch", "checkout -q --orphan island; commit", first("island", "the last commit")},
		{
			"merge commit", alone + "checkout -q -b x HEAD~1; commit x.txt; checkout -q main; merge -q --no-ff -m merge x",
			want{LastCommit, "HEAD^1", "HEAD", "^", "main", "the last commit"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			origin, f := newClone(t)
			f.run(origin, test.steps)
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
				t.Errorf("names %q and %q, want %q and %q", rg.BaseName, rg.HeadName, test.want.baseName,
					test.want.headName)
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
		wantRefused(t, r, spec, "no commits yet", "--staged")
	}
	// What the hint names works, and without a commit nothing else can be meant.
	f.write("a.txt", "a\n")
	wantChanged(t, r, Spec{}, "A a.txt")
	rg := resolve(t, r, Spec{Worktree: true})
	wantEqual(t, "base", rg.Base, sha1Hash.emptyTree())
	wantEqual(t, "guide", rg.BaseCommit, "")
	wantEqual(t, "work tree", changedPaths(t, r, rg), []string{"A a.txt"})
	wantChanged(t, r, Spec{Staged: true})
	f.git("add", ".")
	wantChanged(t, r, Spec{Staged: true}, "A a.txt")
}

func TestDefaultRangeOfABareRepository(t *testing.T) {
	t.Parallel()
	f, _, two, _ := forked(t)
	r := f.clone("--bare").open()
	rg := resolve(t, r, Spec{})
	wantEqual(t, "kind", rg.Kind, LastCommit)
	wantEqual(t, "head", rg.Head, two)
	for _, spec := range []Spec{{Staged: true}, {Worktree: true}} {
		wantRefused(t, r, spec, "the repository is bare", "A..B")
	}
}

// With a work tree that is said to be elsewhere, nothing there is read.
func TestWorkTreeElsewhere(t *testing.T) {
	t.Parallel()
	f, _, _, _ := forked(t)
	other := scratch(t)
	needs.NoError(t, os.WriteFile(filepath.Join(other, "secret"), []byte("s"), 0o600))
	f.git("config", "core.worktree", other)
	r := f.open()
	wantEqual(t, "Top", r.Top(), f.dir)
	wantRefused(t, r, Spec{Worktree: true}, "core.worktree names "+other, "--staged")
	wantEqual(t, "kind", resolve(t, r, Spec{}).Kind, LastCommit)
	resolve(t, r, Spec{Staged: true})
}

// What a range up to HEAD leaves out of the work tree.
func TestUncommitted(t *testing.T) {
	t.Parallel()
	f := repoOf(t, "a.txt", "1\n", "b.txt", "1\n")
	f.commit("two", "a.txt", "2\n")
	f.write("a.txt", "3\n")
	f.git("add", "a.txt")
	f.write("b.txt", "2\n", "new.txt", "new\n", ".git/info/exclude", "*.o\n", "x.o", "x")
	f.git("rm", "-q", "--cached", "b.txt") // the file stays
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
