package gitea_test

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestRequested: Gitea lists who has reviewed among those who are asked. Only a request that its account
// has not answered counts.
func TestRequested(t *testing.T) {
	for _, kind := range []forgetest.GiteaKind{forgetest.Gitea125, forgetest.Gitea127, forgetest.Forgejo} {
		b := lay(t, kind)
		asked := func() int {
			t.Helper()
			p, err := b.PullRequest(t.Context(), b.repo, 2)
			if err != nil {
				t.Fatal(err)
			}
			return len(p.Requested)
		}
		if n := asked(); n != 0 {
			t.Fatalf("%d are asked", n)
		}
		b.World.RequestReview(b.pull, forgetest.Ann, b.World.Me)
		if n := asked(); n != 1 {
			t.Errorf("%d are asked, want our account", n)
		}
		if _, err := b.Post(t.Context(), b.repo, 2, forge.Draft{
			Commit: b.pull.Head.SHA, Event: forge.Remarks, Body: "Read.",
		}); err != nil {
			t.Fatal(err)
		}
		if n := asked(); n != 0 {
			t.Errorf("%d are asked after the review", n)
		}
		b.World.RequestReview(b.pull, forgetest.Ann, b.World.Me)
		if n := asked(); n != 1 {
			t.Errorf("%d are asked, again", n)
		}
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
