package gitea_test

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestRequested: Gitea lists who has reviewed among those who are asked. Only a request that its account
// has not answered counts.
func TestRequested(t *testing.T) {
	for _, kind := range []forgetest.GiteaKind{forgetest.Gitea125, forgetest.Gitea127, forgetest.Forgejo} {
		b := lay(t, kind)
		asked := func(when string, want int) {
			t.Helper()
			if p, err := b.PullRequest(t.Context(), b.repo, 2); err != nil || len(p.Requested) != want {
				t.Errorf("%s, %+v are asked, %v", when, p.Requested, err)
			}
		}
		asked("at first", 0)
		b.World.RequestReview(b.pull, forgetest.Ann, b.World.Me)
		asked("by a person", 1)
		if _, err := b.Post(t.Context(), b.repo, 2, b.draft()); err != nil {
			t.Fatal(err)
		}
		asked("after the review", 0)
		b.World.RequestReview(b.pull, forgetest.Ann, b.World.Me)
		asked("again", 1)
	}
}

// TestWithoutBranch: a pull request that was pushed to refs/for/ is of no repository, as one from a deleted
// fork: nothing is pushed to it, and it is not trusted as a branch of the repository is.
func TestWithoutBranch(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	b.World.Change(func() {
		b.pull.Head.Name, b.pull.Head.Repo, b.pull.Head.RepoID = "refs/pull/2/head", b.pull.Base.Repo, b.pull.Base.RepoID
	})
	p, err := b.PullRequest(t.Context(), b.repo, b.pull.Number)
	if err != nil || !p.Head.Repo.IsZero() || p.Head.SHA != b.pull.Head.SHA {
		t.Errorf("head %+v, %v", p.Head, err)
	}
}
