package gitea_test

import (
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestListsAreReadToTheirEnd: a server may be installed with shorter pages, and
// counts reviews that others have not sent and that it does not show.
func TestListsAreReadToTheirEnd(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	b.World.Change(func() { b.Most = 7 })
	const shown = 60
	b.World.Change(func() {
		b.pull.Reviews = map[precedent.ForgeID]forgetest.Review{}
		for i := range int64(shown + 20) {
			b.pull.Comments = append(b.pull.Comments, forge.Comment{
				ID: precedent.NumberID(100 + i), Kind: forge.OnReview,
				Author: forgetest.Bo, Body: "words", At: forgetest.Epoch, Edited: forgetest.Epoch,
			})
			if i%4 == 1 {
				b.pull.Reviews[precedent.NumberID(100+i)] = forgetest.Review{
					Author: forgetest.Bo, State: forgetest.Pending, Commit: b.pull.Head.SHA,
				}
			}
		}
	})
	needs.Len(t, "comments", shown)(b.Comments(t.Context(), b.repo, 2))
}

func TestMoreReviewsThanAreRead(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	var all []forge.Comment
	for i := range 501 {
		all = append(all, b.World.Remark(b.pull, forgetest.Bo, on(precedent.Right, i+1, i+1, "").Span, "why?"))
	}
	said, err := b.Comments(t.Context(), b.repo, 2)
	if e := trouble(t, err); e.Kind != forge.KindTooLarge || len(said) != 500 || said[0].ID != all[0].ID ||
		said[499].ID != all[499].ID {
		t.Errorf("%d comments, %v", len(said), err)
	}
}

// TestHistoryOfDeleted: what is listed is deleted before the next page is read, and nothing else is skipped. A cursor of
// an earlier version begins again.
func TestHistoryOfDeleted(t *testing.T) {
	b := lay(t, forgetest.Gitea127)
	b.World.Change(func() { b.Most = 10 })
	left := map[precedent.ForgeID]bool{}
	for range 60 {
		b.Clock.Pass(time.Second)
		left[b.World.Say(b.pull, forgetest.Bo, "", "words").ID] = true
	}
	q := forge.HistoryQuery{Stream: forge.StreamWhole, Cursor: "0001-01-01T00:00:00Z 0 3 77"}
	for pages := 0; q.Cursor != "" && pages < 20; pages++ {
		page := needs.Value(b.History(t.Context(), b.repo, q))(t)
		for _, m := range page.Comments {
			delete(left, m.ID)
			b.World.Remove(b.pull, forge.CommentRef{Kind: m.Kind, ID: m.ID})
		}
		q.Cursor = page.Next
	}
	needs.Equal(t, 0, len(left))
}

// TestStrangeAnswers: what a server says is not believed, and stops nobody.
func TestStrangeAnswers(t *testing.T) {
	for on, bodies := range map[string][]string{
		"/issues/2/comments":  {`[null]`, `[{"id":1}]`, `[{"id":-1,"created_at":"2026-01-01T00:00:00Z"}]`},
		"/pulls/2/reviews?":   {`[null]`, `[{"id":1,"body":"x","state":"COMMENT"}]`, `"reviews"`},
		"/reviews/5/comments": {`[null]`, `[{"id":1}]`, `[{"id":1,"created_at":"2026-01-01T00:00:00Z","position":-4}]`},
	} {
		for _, body := range bodies {
			b := lay(t, forgetest.Gitea127)
			b.Script.Plan(forgetest.Fault{On: on, Status: 200, Body: body, Times: 2}, forgetest.Fault{
				On: "/pulls/2/reviews?", Status: 200, Header: map[string]string{"X-Total-Count": "1"},
				Body: `[{"id":5,"state":"COMMENT","comments_count":1,"user":null}]`,
			})
			said, err := b.Comments(t.Context(), b.repo, 2)
			if e := trouble(t, err); e.Kind != forge.KindAnswer {
				t.Errorf("%s %s: %+v, %v", on, body, said, err)
			}
		}
	}
}

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
		needs.Value(b.Post(t.Context(), b.repo, 2, b.draft()))(t)
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
