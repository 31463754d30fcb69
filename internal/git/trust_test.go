package git

import (
	"errors"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

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

// TestTrustedBaseOfAShallowClone: a pull request's checkout in CI.
func TestTrustedBaseOfAShallowClone(t *testing.T) {
	t.Parallel()
	origin := repoOf(t, "a.txt", "1\n")
	main := origin.commit("two", "a.txt", "2\n")
	origin.git("checkout", "-q", "-b", "theirs")
	origin.commit("three", "b.txt", "3\n")
	origin.commit("four", "b.txt", "4\n")
	f := origin.clone("--depth=2", "--no-single-branch")
	f.git("remote", "set-head", "origin", "main")
	f.git("checkout", "-q", "--detach", "origin/theirs")
	wantTrusted(t, f, Spec{Commit: "HEAD"}, "", main)
}

// TestTrustedBaseOfABareClone: its HEAD names the default branch of the remote.
func TestTrustedBaseOfABareClone(t *testing.T) {
	t.Parallel()
	origin := newRepo(t)
	one := origin.commit("one", "a.txt", "1\n")
	origin.commit("two", "a.txt", "2\n")
	wantTrusted(t, origin.clone("--bare"), Spec{}, "", one)
}
