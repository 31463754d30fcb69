package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

var forks template

// forked is a history with a fork: base - one - two (main), base - side (side).
func forked(t *testing.T) (f fixture, base, two, side string) {
	t.Helper()
	dir, ids := forks.copied(t, func(dir string) []string {
		f := newRepoIn(t, dir)
		base := f.commit("base", "a.txt", "1\n")
		f.commit("one", "a.txt", "2\n")
		two := f.commit("two\n\nwith a body", "a.txt", "3\n")
		f.git("tag", "-a", "-m", "release", "v1", "HEAD")
		f.git("checkout", "-q", "-b", "side", base)
		side := f.commit("side", "b.txt", "1\n")
		f.git("checkout", "-q", "main")
		return []string{base, two, side}
	})
	return fixture{t, filepath.Join(dir, "repo")}, ids[0], ids[1], ids[2]
}

func TestResolveRange(t *testing.T) {
	t.Parallel()
	f, base, two, side := forked(t)
	one := f.id("main~1")
	f.git("update-ref", "refs/heads/-oX", side)
	f.git("update-ref", "refs/heads/--upload-pack=touch", side)
	r := f.open()
	for _, test := range []struct{ spec, base, head, baseName, headName string }{
		{"main..side", two, side, "main", "side"},
		{"main...side", base, side, "main", "side"},
		{"HEAD~2..", base, two, "HEAD~2", "HEAD"},
		{"..side", two, side, "HEAD", "side"},
		{"HEAD~2", base, two, "HEAD~2", "HEAD"},
		{"side", base, two, "side", "HEAD"},
		{"v1..side", two, side, "v1", "side"},
		{two[:10] + ".." + side[:10], two, side, two[:10], side[:10]},
		{":/one..HEAD", one, two, ":/one", "HEAD"},
		{"main..main", two, two, "main", "main"},
		{"-oX..--upload-pack=touch", side, side, "-oX", "--upload-pack=touch"},
	} {
		t.Run(test.spec, func(t *testing.T) {
			rg := resolve(t, r, Spec{Range: test.spec})
			log := rg.Log
			rg.Log = ""
			wantEqual(t, "range", rg, Range{
				Kind: Commits, Base: test.base, Head: test.head, BaseCommit: test.base, HeadCommit: test.head, BaseName: test.baseName, HeadName: test.headName,
			})
			if test.base == base && test.head == two {
				want := "commit " + two + "\ntwo\n\nwith a body\n\ncommit " + one + "\none\n\n"
				wantEqual(t, "log", string(log), want)
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	f, _, _, _ := forked(t)
	f.git("checkout", "-q", "--orphan", "island")
	f.commit("island", "c.txt", "x\n")
	f.git("checkout", "-q", "main")
	f.git("branch", "twice")
	short := f.git("rev-parse", "--short", "main")
	f.git("tag", "twice", "island")
	f.git("tag", short, "island")
	r := f.open()
	for _, test := range []struct {
		spec      Spec
		msg, hint string
	}{
		{Spec{Range: "twice~0...main"}, `"twice" names different commits`, "refs/heads/"},
		{Spec{Commit: short}, "names different commits", ""},
		{Spec{Range: "main~77"}, `unknown revision "main~77"`, "git branch --all"},
		{Spec{Range: strings.Repeat("0", 40)}, "unknown revision", ""},
		{Spec{Range: "--output=X"}, `unknown revision "--output=X"`, ""},
		{Spec{Range: "--upload-pack=touch X"}, `unknown revision "--upload-pack=touch X"`, ""},
		{Spec{Range: "@{upstream}"}, "no upstream configured", ""},
		{Spec{Range: "main^{tree}"}, `"main^{tree}" is a tree, not a commit`, "A..B"},
		{Spec{Range: "main..a\nb"}, "not a revision", ""},
		{Spec{Range: "main..\x1b[31m"}, `unknown revision "\x1b[31m"`, ""},
		{Spec{Range: strings.Repeat("a", 2000)}, "not a revision", ""},
		{Spec{Range: "main...island"}, "main and island have no common ancestor", "main..island"},
		{Spec{Staged: true, Worktree: true}, "cannot be combined", ""},
	} {
		wantRefused(t, r, test.spec, test.msg, test.hint)
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	f, base, _, _ := forked(t)
	c := f.clone("--depth", "1", "--no-single-branch")
	r := c.open()
	wantRefused(t, r, Spec{Range: "main...origin/side"}, "no common ancestor in this shallow clone",
		"git fetch --unshallow origin (or, to fetch less: git fetch --deepen=200 origin)")
	for _, text := range []string{base, "HEAD~1", base + "..HEAD"} {
		wantRefused(t, r, Spec{Range: text}, "unknown revision",
			"the clone is shallow; fetch the missing history: git fetch --unshallow origin")
	}
	wantRefused(t, r, Spec{}, "the clone is shallow: it lacks the parent of the last commit", "git fetch --deepen=1 origin")
	resolve(t, r, Spec{Range: "main..origin/side"}) // two dots need no ancestor
	c.git("checkout", "-q", "-b", "work", "origin/side", "--no-track")
	wantRefused(t, r, Spec{}, "origin/main and work have no common ancestor in this shallow clone",
		"git fetch --unshallow origin")
	c.git("checkout", "-q", "main")
	// The hint works.
	c.git("fetch", "-q", "--unshallow", "origin")
	r = c.open()
	resolve(t, r, Spec{Range: "main...origin/side"})
	wantEqual(t, "kind", resolve(t, r, Spec{}).Kind, LastCommit)
}

func TestSHA256(t *testing.T) {
	t.Parallel()
	f := newRepo(t, "--object-format=sha256")
	f.commit("one", "a.txt", "1\n")
	two := f.commit("two", "a.txt", "2\n")
	f.write("new.txt", "n\n")
	r := f.open()
	wantEqual(t, "head", resolve(t, r, Spec{Range: "HEAD~1"}).Head, two)
	wantChanged(t, r, Spec{}, "A new.txt")
	needs.NoError(t, os.Remove(f.path("new.txt")))
	f.git("checkout", "-q", "--orphan", "fresh")
	f.commit("root", "a.txt", "3\n")
	rg := resolve(t, r, Spec{})
	wantEqual(t, "base of the root", rg.Base, f.git("hash-object", "-t", "tree", os.DevNull))
	wantRead(t, r.Blobs(t.Context()), rg.Head, "a.txt", "3\n")
}

// Refs that are kept in tables (git 2.45 and newer) are read like any others.
func TestReftable(t *testing.T) {
	t.Parallel()
	f := fixture{t, scratch(t)}
	if out, err := f.try("init", "-q", "-b", "main", "--ref-format=reftable"); err != nil {
		t.Skipf("needs git 2.45, which keeps refs in tables: %s", out)
	}
	f.commit("one", "a.txt", "1\n")
	f.git("checkout", "-q", "-b", "feature")
	two := f.commit("two", "a.txt", "2\n")
	r := f.open()
	rg := resolve(t, r, Spec{})
	wantEqual(t, "range", []string{rg.Head, rg.BaseName, rg.HeadName}, []string{two, "main", "feature"})
	f.write("a.txt", "3\n")
	wantChanged(t, r, Spec{Worktree: true}, "M a.txt")
}

// Every case of what is reviewed when no range is given.
func TestDefaultRange(t *testing.T) {
	t.Parallel()
	type want struct {
		kind                       Kind
		base, head                 string // revisions; "tree" for a snapshot, "empty" for the empty tree
		baseName, headName, whyHas string
	}
	const noTrack, alone = "checkout -q -b feature --no-track; ", "remote remove origin; "
	const pushed = noTrack + "commit m.txt; push -q -u origin feature; theirs; "
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
		{"upstream of another name", "checkout -q -b feature --track origin/main; commit m.txt", feature("origin/main")},
		{"local upstream", "checkout -q -b feature --track main; commit m.txt", feature("main")},
		{"no upstream", noTrack + "commit m.txt", feature("origin/main")},
		{"upstream is gone", noTrack + "config branch.feature.remote origin; " +
			"config branch.feature.merge refs/heads/feature; commit m.txt", feature("origin/main")},
		{"rebased since it was pushed", pushed + "rebase -q origin/main", feature("origin/main")},
		{"upstream of a fork's branch", toFork, adds("theirs", "origin/main", "what theirs adds")},
		{"no remote, main", noTrack + alone + "commit m.txt", feature("main")},
		{"main beside an old master", alone + "branch -q master HEAD~1", last("nothing is uncommitted: the last commit")},
		{"detached, ahead", "checkout -q --detach; commit m.txt", adds("", "origin/main", "adds to origin/main")},
		{"detached, behind", "checkout -q --detach HEAD~1", first("", "the last commit")},
		{"dirty", "write a.txt dirty", dirty("main adds nothing to origin/main: what is not committed")},
		{"staged only", "write a.txt dirty; add a.txt", dirty("what is not committed")},
		{"untracked only", "write new.txt new", dirty("what is not committed")},
		{"touched only", "write a.txt 2", last("nothing is uncommitted")},
		{
			"root commit", alone + "checkout -q --orphan fresh; branch -q -D main; commit",
			first("fresh", "no range was given, nothing is uncommitted: the last commit"),
		},
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

// What others did to the default branch is left out after a merge, and what people changed in the merge is not.
func TestMergedDefaultBranch(t *testing.T) {
	t.Parallel()
	origin, f := newClone(t)
	f.run(origin, "checkout -q -b feature; commit m.txt; push -q -u origin feature")
	pushed := f.id("HEAD")
	origin.commit("theirs", "m.txt", "theirs\n", "t.txt", "t\n", "u.txt", "u\n")
	f.git("fetch", "-q")
	if _, err := f.try("merge", "origin/main"); err == nil {
		t.Fatal("the merge has no conflict")
	}
	f.write("m.txt", "both\n")
	for _, upstream := range []string{"--unset-upstream", "--set-upstream-to=origin/feature"} {
		f.git("branch", "-q", upstream)
		r := f.open()
		wantEqual(t, "before the commit", changedPaths(t, r, resolve(t, r, Spec{})), []string{"M m.txt"})
	}
	f.commit("merge", "m.txt", "both\n", "t.txt", "tampered\n")
	f.commit("mine", "new.txt", "n\n")
	r := f.open()
	for _, s := range []Spec{{}, {Range: pushed + "...HEAD", BaseName: "origin/feature", Trunks: []string{"origin"}}} {
		rg := resolve(t, r, s)
		wantEqual(t, "changes", changedPaths(t, r, rg), []string{"M m.txt", "A new.txt", "M t.txt"})
		wantEqual(t, "base", rg.BaseName, "origin/feature and origin/main")
		wantEqual(t, "commit of the guide", rg.BaseCommit, pushed)
		wantEqual(t, "commits", strings.Count(string(rg.Log), "commit "), 2)
	}
	origin.commit("later", "v.txt", "v\n")
	f.git("fetch", "-q")
	before := resolve(t, f.open(), Spec{})
	f.git("tag", "MERGE_HEAD", "origin/main")
	wantEqual(t, "base beside a tag", resolve(t, f.open(), Spec{}).Base, before.Base)
	f.git("checkout", "-q", "--orphan", "other")
	f.commit("another history", "o.txt", "o\n")
	f.git("checkout", "-q", "feature")
	f.write(".git/MERGE_HEAD", f.id("other")+"\n")
	wantEqual(t, "base while another history is merged", resolve(t, f.open(), Spec{}).Base, before.Base)
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

// A bare repository is taken for what it is, and runs nothing.
func TestDefaultRangeOfABareRepository(t *testing.T) {
	t.Parallel()
	f, _, two, _ := forked(t)
	p, c := newTrap(t), f.clone("--bare")
	appendFile(t, c.path("config"), programs(p.script))
	everything(t, c.dir, Options{})
	p.quiet()
	r := c.open()
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
		needs.Result(t, fmt.Sprint(test.spec), test.want)(r.Uncommitted(t.Context(), resolve(t, r, test.spec)))
	}
}

func wantTrusted(t *testing.T, f fixture, spec Spec, named, want string) {
	t.Helper()
	r := f.open()
	got := needs.Value(r.TrustedBase(t.Context(), resolve(t, r, spec), named))(t)
	wantEqual(t, "base", got, want)
}

// All policy is read "from the operator config or the BASE commit", and the author of a
// change must not choose that commit.
func TestTrustedBase(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		steps string
		spec  Spec
		named string
		want  string // a revision; "" for no base, "unknown" for an error
	}{
		{"history of the default branch", "", Spec{}, "", "HEAD~1"},
		{"own commits", "commit m.txt", Spec{}, "", "origin/main"},
		{"uncommitted", "write a.txt x", Spec{}, "", "HEAD"},
		{"fork, plain", toFork, Spec{}, "", "origin/main"},
		{"fork, last commit", toFork, Spec{Commit: "HEAD"}, "", "origin/main"},
		{"fork, range", toFork, Spec{Range: "HEAD~1..HEAD"}, "", "origin/main"},
		{"fork, detached", toFork + "; checkout -q --detach", Spec{Commit: "HEAD"}, "", "origin/main"},
		{"fork, uncommitted", toFork + "; write a.txt x", Spec{Worktree: true}, "", "origin/main"},
		{"fork, from an old commit", "checkout -q HEAD~1; commit b.txt", Spec{}, "", "origin/main"},
		{"fork, without a common commit", "checkout -q --orphan island; commit", Spec{}, "", "origin/main"},
		{
			"a local main is behind, or is theirs", toFork + "; branch -q -f main theirs~1",
			Spec{Range: "main"},
			"", "origin/main",
		},
		{"gh pr checkout", "checkout -q -b pr; commit .precedent.yaml; commit b.txt; config branch.pr.remote origin; " +
			"config branch.pr.merge refs/pull/7/head", Spec{Commit: "HEAD"}, "", "origin/main"},
		{"upstream before origin", "update-ref refs/remotes/upstream/main HEAD~1; " +
			"symbolic-ref refs/remotes/upstream/HEAD refs/remotes/upstream/main", Spec{}, "", "HEAD~1"},
		{"the operator's branch", "branch -q stable HEAD~1; commit m.txt", Spec{}, "stable", "HEAD~2"},
		{"no default branch was recorded", "symbolic-ref --delete refs/remotes/origin/HEAD", Spec{}, "", "HEAD~1"},
		{"another branch was fetched alone", "symbolic-ref --delete refs/remotes/origin/HEAD; " +
			"update-ref refs/remotes/origin/topic HEAD; update-ref -d refs/remotes/origin/main", Spec{}, "", "unknown"},
		{
			"no remote", "checkout -q -b theirs; commit .precedent.yaml; commit b.txt; remote remove origin",
			Spec{Commit: "HEAD"},
			"", "main",
		},
		{"no remote, no main", "remote remove origin; branch -q -m main trunk", Spec{}, "", "unknown"},
		{"nothing was pushed yet", "remote remove origin; remote add origin file:///nowhere", Spec{}, "", "HEAD~1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			origin, f := newClone(t)
			f.run(origin, test.steps)
			if test.want != "unknown" {
				wantTrusted(t, f, test.spec, test.named, f.id(test.want))
				return
			}
			r := f.open()
			got, err := r.TrustedBase(t.Context(), resolve(t, r, test.spec), test.named)
			if !errors.Is(err, ErrNotTrusted) || got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestTrustedBaseOfClones: a pull request's checkout in CI is shallow, and the HEAD of a bare clone names the default
// branch of the remote.
func TestTrustedBaseOfClones(t *testing.T) {
	t.Parallel()
	origin := repoOf(t, "a.txt", "1\n")
	main := origin.commit("two", "a.txt", "2\n")
	wantTrusted(t, origin.clone("--bare"), Spec{}, "", origin.id("HEAD~1"))
	origin.git("checkout", "-q", "-b", "theirs")
	origin.commit("three", "b.txt", "3\n")
	origin.commit("four", "b.txt", "4\n")
	f := origin.clone("--depth=2", "--no-single-branch")
	f.git("remote", "set-head", "origin", "main")
	f.git("checkout", "-q", "--detach", "origin/theirs")
	wantTrusted(t, f, Spec{Commit: "HEAD"}, "", main)
}
