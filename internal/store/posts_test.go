package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// pullReview is the n-th review, of a pull request.
func pullReview(id string, n, pull int, findings ...precedent.Finding) *precedent.Review {
	v := review(remote, id, n, findings...)
	v.PullRequest = &pull
	return v
}

// postsOf plans so many remarks for a review.
func postsOf(v *precedent.Review, count int) []Post {
	var posts []Post
	for i := range count {
		posts = append(posts, Post{
			ID: fmt.Sprintf("%s-%d", v.ID, i), Pull: *v.PullRequest, Review: v.ID, Head: v.Head, Kind: PostRemark,
			Thread: fmt.Sprintf("%s-%d", v.ID, i), Nth: i, State: PostPlanned, At: v.At,
			Payload: json.RawMessage(fmt.Sprintf(`{"body":"it's number %d"}`, i)),
		})
	}
	return posts
}

func testPostsAreSavedWithTheirReview(t *testing.T, r *Repo) {
	ctx := t.Context()
	second, first := pullReview("r2", 2, 7), pullReview("r1", 1, 7)
	want := append(postsOf(first, 2), postsOf(second, 12)...)
	for _, v := range []*precedent.Review{first, second, pullReview("r3", 3, 8)} {
		var posts []Post
		if v.ID != "r3" {
			posts = postsOf(v, map[string]int{"r1": 2, "r2": 12}[v.ID])
		}
		needs.NoError(t, r.SaveReview(ctx, v, posts...))
	}
	needs.Equal(t, want, needs.Value(r.Posts(t.Context(), 7))(t))
	needs.Len(t, "the other pull request has", 0)(r.Posts(ctx, 8))
	// As after a commit whose answer was lost: other ids, and still the first posts.
	again := postsOf(second, 1)
	again[0].ID = "another"
	needs.NoError(t, r.SaveReview(ctx, second, again...))
	needs.Equal(t, want, needs.Value(r.Posts(t.Context(), 7))(t))
}

// testBadPostLeavesNothing: a review whose posts cannot be saved is not saved.
func testBadPostLeavesNothing(t *testing.T, r *Repo) {
	ctx := t.Context()
	v := pullReview("r1", 1, 7, bug("x"))
	foreign := postsOf(pullReview("r2", 1, 7), 1)
	twice := append(postsOf(v, 2), postsOf(v, 1)...)
	for _, posts := range [][]Post{foreign, twice} {
		if err := r.SaveReview(ctx, v, posts...); err == nil {
			t.Error("it was saved")
		}
		if _, err := r.Review(ctx, "r1"); !errors.Is(err, ErrNoReview) {
			t.Error(err)
		}
	}
	checkEmpty(t, r)
}

// testClockSetBack: what is saved later is newer, whatever the clock said before.
func testClockSetBack(t *testing.T, r *Repo) {
	ctx := t.Context()
	if v, found, err := r.LastReview(ctx, 7); v != nil || found || err != nil {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	for i, minute := range []int{120, 0, 1, 121} { // two hours ahead, then right
		v := pullReview(fmt.Sprint("r", i), minute, 7)
		needs.NoError(t, r.SaveReview(ctx, v, postsOf(v, 2)...))
		last, found, err := r.LastReview(ctx, 7)
		if err != nil || !found || last.ID != v.ID {
			t.Errorf("the last review after %s is %+v, %v", v.ID, last, err)
		}
		posts := needs.Value(r.Posts(ctx, 7))(t)
		if posts[len(posts)-1].Review != v.ID || posts[len(posts)-2].Review != v.ID {
			t.Errorf("the newest posts after %s are those of %s", v.ID, posts[len(posts)-1].Review)
		}
	}
	other := pullReview("other", 2, 8)
	needs.NoError(t, r.SaveReview(ctx, other, postsOf(other, 1)...))
	if last, _, err := r.LastReview(ctx, 8); err != nil || !last.At.Equal(other.At) {
		t.Errorf("the time of another pull request changed: %+v, %v", last, err)
	}
}

func testPostsComeFurther(t *testing.T, r *Repo) {
	ctx := t.Context()
	v := pullReview("r1", 1, 7)
	needs.NoError(t, r.SaveReview(ctx, v, postsOf(v, 3)...))
	posts := needs.Value(r.Posts(t.Context(), 7))(t)
	for i := range posts {
		posts[i].State, posts[i].Attempts, posts[i].Remote = PostConfirmed, 2, precedent.NumberID(1<<40+int64(i))
		posts[i].Why, posts[i].Hash, posts[i].Thread = "because", "0a", "another thread"
	}
	needs.NoError(t, r.SetPosts(ctx, posts...))
	needs.Equal(t, posts, needs.Value(r.Posts(t.Context(), 7))(t))
	// All or none: one that is not there undoes the others.
	changed := append([]Post{}, posts...)
	changed[0].State = PostRejected
	changed[2].ID = "nobody"
	if err := r.SetPosts(ctx, changed...); err == nil {
		t.Error("a post that is not there was written")
	}
	if err := repoFor(t, r.db, other).SetPosts(ctx, changed[0]); err == nil {
		t.Error("another repository wrote a post")
	}
	needs.Equal(t, posts, needs.Value(r.Posts(t.Context(), 7))(t))
}

// testPruneKeepsWhatASummaryNeeds: the posts of a pull request go when nobody
// speaks on it any more.
func testPruneKeepsWhatASummaryNeeds(t *testing.T, r *Repo) {
	ctx := t.Context()
	now := start.AddDate(1, 0, 0)
	for _, v := range []struct{ id, days, pull int }{{1, 200, 7}, {2, 100, 8}, {3, 1, 8}} {
		r1 := pullReview(fmt.Sprint("r", v.id), 1, v.pull)
		r1.At = now.AddDate(0, 0, -v.days)
		needs.NoError(t, r.SaveReview(ctx, r1, postsOf(r1, 2)...))
	}
	deleted, err := r.Prune(ctx, now.AddDate(0, 0, -90), 50, now)
	if err != nil || deleted.Posts != 2 {
		t.Errorf("%+v, %v", deleted, err)
	}
	needs.Len(t, "posts of a finished pull request", 0)(r.Posts(ctx, 7))
	needs.Len(t, "posts of the other", 4)(r.Posts(ctx, 8))
	if deleted, err = r.Clear(ctx); err != nil || deleted.Posts != 4 {
		t.Errorf("%+v, %v", deleted, err)
	}
}

// testHandledComments: a handled comment and its answer are saved together, answers are not
// posts of a review, and all of it moves with the repository.
func testHandledComments(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), local)
	h := HandledComment{Comment: "inline.7", Hash: "a", Document: json.RawMessage(`{"who":"it's 1"}`), At: start}
	answer := Post{
		ID: "p1", Pull: 7, Kind: PostAnswer, Thread: "p1", State: PostPlanned, At: start,
		Payload: json.RawMessage(`{}`),
	}
	needs.NoError(t, r.SaveHandled(ctx, 7, h, answer))
	again := h
	again.Hash = "b"
	if err := r.SaveHandled(ctx, 7, again, answer); err == nil {
		t.Error("an answer was saved twice")
	}
	needs.Result(t, "saved after another run", false)(r.SaveHandledOnce(ctx, 7, HandledComment{}, again, answer))
	needs.Result(t, "saved", true)(r.SaveHandledOnce(ctx, 7, h, again))
	needs.Result(t, "saved back", true)(r.SaveHandledOnce(ctx, 7, again, h))
	needs.Result(t, "handled", map[string]HandledComment{"inline.7": h})(r.HandledComments(ctx, 7))
	needs.NoError(t, r.Pause(ctx, 7, "mona", true))
	needs.NoError(t, r.Pause(ctx, 7, "dana", true))
	joined := repoFor(t, r.db, remote, local)
	found, err1 := joined.HandledComments(ctx, 7)
	who, paused, err2 := joined.PausedBy(ctx, 7)
	answers, err3 := joined.AnswerPosts(ctx, 7)
	if len(found) != 1 || who != "mona" || !paused || len(answers) != 1 || err1 != nil || err2 != nil || err3 != nil {
		t.Errorf("after joining: %v, paused by %q, answers %v; %v %v %v", found, who, answers, err1, err2, err3)
	}
	needs.Len(t, "answers among the posts of reviews", 0)(joined.Posts(ctx, 7))
	needs.NoError(t, joined.Pause(ctx, 7, "dana", false))
	if _, paused, err := joined.PausedBy(ctx, 7); paused || err != nil {
		t.Errorf("still paused, %v", err)
	}
}

// testTurns: one run at a time has the turn. That of a run ends with its time, with its replica, and
// when it lies further ahead than a turn can last, since another clock was wrong. Who takes over from
// a replica that died learns which runs died.
func testTurns(t *testing.T, open opener) {
	ctx := t.Context()
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	take := func(run, replica string, limit time.Duration, want bool, died ...string) {
		t.Helper()
		taken, gone, err := r.TakeTurn(ctx, 7, run, replica, limit)
		if err != nil || taken != want || !slices.Equal(gone, died) {
			t.Errorf("%s: %v, died %q, %v; want %v, %q", run, taken, gone, err, want, died)
		}
	}
	replica := func(id string, lives bool) {
		t.Helper()
		needs.NoError(t, r.db.Transact(ctx, "test", func(tx *sql.Tx) error {
			if !lives {
				return r.db.RemoveReplicas(ctx, tx, id, now)
			}
			_, err := r.db.KeepReplica(ctx, tx, id, now, true)
			return err
		}))
	}
	take("a", "", time.Hour, true)
	take("a", "", time.Hour, true)
	take("b", "", time.Hour, false)
	take("b", "", time.Minute, true) // a's clock was an hour ahead
	needs.NoError(t, r.EndTurn(ctx, 7, "a"))
	take("c", "", time.Minute, false)
	needs.NoError(t, r.EndTurn(ctx, 7, "b"))
	replica("one", true)
	replica("two", true)
	take("c", "one", time.Hour, true)
	take("d", "two", time.Hour, false)
	replica("one", false)
	take("d", "two", time.Hour, true, "c")
	take("d", "two", time.Hour, true, "c")
	take("e", "", time.Hour, false)
	replica("two", false)
	take("e", "", time.Hour, true, "c", "d")
	needs.NoError(t, r.EndTurn(ctx, 7, "e"))
	take("f", "", 0, true)
	now = now.Add(time.Millisecond)
	take("g", "", time.Hour, true)
}
