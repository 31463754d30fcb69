package git

import (
	"errors"
	"testing"
)

// All policy is read "from the operator config or the BASE commit", and the author of a
// change must not choose that commit.
func TestTrustedBase(t *testing.T) {
	t.Parallel()
	toFork := func(f fixture) { // what `git checkout fork/feature` leaves
		f.branchOfFork(".precedent.yaml", "ignore: [b.txt]\n")
		f.git("update-ref", "refs/remotes/fork/theirs", "theirs")
		f.git("config", "remote.fork.fetch", "+refs/heads/*:refs/remotes/fork/*")
		f.git("config", "branch.theirs.remote", "fork")
		f.git("config", "branch.theirs.merge", "refs/heads/theirs")
	}
	for _, test := range []struct {
		name  string
		setUp func(o, f fixture)
		spec  Spec
		named string
		want  string // a revision; "" for no base, "unknown" for an error
	}{
		{"history of the default branch", func(_, _ fixture) {}, Spec{}, "", "HEAD~1"},
		{"own commits", func(_, f fixture) { f.commit("more", "m.txt", "m\n") }, Spec{}, "", "origin/main"},
		{"uncommitted", func(_, f fixture) { f.write("a.txt", "x\n") }, Spec{}, "", "HEAD"},
		{"fork, plain", func(_, f fixture) { toFork(f) }, Spec{}, "", "origin/main"},
		{"fork, last commit", func(_, f fixture) { toFork(f) }, Spec{Commit: "HEAD"}, "", "origin/main"},
		{"fork, range", func(_, f fixture) { toFork(f) }, Spec{Range: "HEAD~1..HEAD"}, "", "origin/main"},
		{"fork, detached", func(_, f fixture) { toFork(f); f.git("checkout", "-q", "--detach") }, Spec{Commit: "HEAD"}, "", "origin/main"},
		{"fork, uncommitted", func(_, f fixture) { toFork(f); f.write("a.txt", "x\n") }, Spec{Worktree: true}, "", "origin/main"},
		{"fork, from an old commit", func(o, f fixture) {
			f.git("checkout", "-q", "HEAD~1")
			f.commit("theirs", "b.txt", "b\n")
		}, Spec{}, "", "origin/main"},
		{"fork, without a common commit", func(_, f fixture) {
			f.git("checkout", "-q", "--orphan", "island")
			f.commit("root")
		}, Spec{}, "", "origin/main"},
		{"a local main is behind, or is theirs", func(_, f fixture) {
			toFork(f)
			f.git("branch", "-q", "-f", "main", "theirs~1")
		}, Spec{Range: "main"}, "", "origin/main"},
		{"gh pr checkout", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "pr")
			f.commit("theirs", ".precedent.yaml", "ignore: [b.txt]\n")
			f.commit("more", "b.txt", "b\n")
			f.git("config", "branch.pr.remote", "origin")
			f.git("config", "branch.pr.merge", "refs/pull/7/head")
		}, Spec{Commit: "HEAD"}, "", "origin/main"},
		{"upstream before origin", func(_, f fixture) {
			f.git("update-ref", "refs/remotes/upstream/main", "HEAD~1")
			f.git("symbolic-ref", "refs/remotes/upstream/HEAD", "refs/remotes/upstream/main")
		}, Spec{}, "", "HEAD~1"},
		{"the operator's branch", func(_, f fixture) {
			f.git("branch", "-q", "stable", "HEAD~1")
			f.commit("more", "m.txt", "m\n")
		}, Spec{}, "stable", "HEAD~2"},
		{"no default branch was recorded", func(_, f fixture) {
			f.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
		}, Spec{}, "", "HEAD~1"},
		{"another branch was fetched alone", func(_, f fixture) {
			f.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
			f.git("update-ref", "refs/remotes/origin/topic", "HEAD")
			f.git("update-ref", "-d", "refs/remotes/origin/main")
		}, Spec{}, "", "unknown"},
		{"no remote", func(_, f fixture) {
			f.git("checkout", "-q", "-b", "theirs")
			f.commit("their policy", ".precedent.yaml", "ignore: [b.txt]\n")
			f.commit("their change", "b.txt", "b\n")
			f.git("remote", "remove", "origin")
		}, Spec{Commit: "HEAD"}, "", "main"},
		{"no remote, no main", func(_, f fixture) {
			f.git("remote", "remove", "origin")
			f.git("branch", "-q", "-m", "main", "trunk")
		}, Spec{}, "", "unknown"},
		{"nothing was pushed yet", func(_, f fixture) {
			f.git("remote", "remove", "origin")
			f.git("remote", "add", "origin", "file:///nowhere")
		}, Spec{}, "", "HEAD~1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			origin, f := newClone(t)
			test.setUp(origin, f)
			r := f.open()
			got, err := r.TrustedBase(t.Context(), resolve(t, r, test.spec), test.named)
			if test.want == "unknown" {
				if !errors.Is(err, ErrNotTrusted) || got != "" {
					t.Fatalf("%q, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantEqual(t, "base", got, f.id(test.want))
		})
	}
}

// TestRangeOfAForksBranch: the upstream of a branch from a fork says nothing about what the
// branch adds.
func TestRangeOfAForksBranch(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	origin.commit("one", "a.txt", "1\n")
	f := origin.clone()
	f.branchOfFork("c.txt", "3\n")
	f.git("fetch", "-q", "fork")
	f.git("branch", "-q", "--set-upstream-to=fork/theirs")
	r := f.open()
	rg := resolve(t, r, Spec{})
	wantEqual(
		t, "range", []string{string(rg.Kind), rg.Base, rg.BaseName},
		[]string{string(Commits), f.id("origin/main"), "origin/main"},
	)
}

// TestTrustedBaseOfAShallowClone: a pull request's checkout in CI.
func TestTrustedBaseOfAShallowClone(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	origin.commit("one", "a.txt", "1\n")
	main := origin.commit("two", "a.txt", "2\n")
	origin.git("checkout", "-q", "-b", "theirs")
	origin.commit("three", "b.txt", "3\n")
	origin.commit("four", "b.txt", "4\n")
	f := origin.clone("--depth=2", "--no-single-branch")
	f.git("remote", "set-head", "origin", "main")
	f.git("checkout", "-q", "--detach", "origin/theirs")
	r := f.open()
	got, err := r.TrustedBase(t.Context(), resolve(t, r, Spec{Commit: "HEAD"}), "")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "base", got, main)
}

// TestTrustedBaseOfABareClone: its HEAD names the default branch of the remote.
func TestTrustedBaseOfABareClone(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	one := origin.commit("one", "a.txt", "1\n")
	origin.commit("two", "a.txt", "2\n")
	f := origin.clone("--bare")
	r := f.open()
	got, err := r.TrustedBase(t.Context(), resolve(t, r, Spec{}), "")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "base", got, one)
}
