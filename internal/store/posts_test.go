package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func mustPosts(t *testing.T, r *Repo, pull int) []Post {
	t.Helper()
	posts, err := r.Posts(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	return posts
}

func testPostsAreSavedWithTheirReview(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	second, first := pullReview("r2", 2, 7), pullReview("r1", 1, 7)
	want := append(postsOf(first, 2), postsOf(second, 12)...)
	for _, v := range []*precedent.Review{first, second, pullReview("r3", 3, 8)} {
		var posts []Post
		if v.ID != "r3" {
			posts = postsOf(v, map[string]int{"r1": 2, "r2": 12}[v.ID])
		}
		if err := r.SaveReview(ctx, v, posts...); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, mustPosts(t, r, 7)); diff != "" {
		t.Error(diff)
	}
	if posts := mustPosts(t, r, 8); len(posts) > 0 {
		t.Errorf("the other pull request has %v", posts)
	}
	// As after a commit whose answer was lost: other ids, and still the first posts.
	again := postsOf(second, 1)
	again[0].ID = "another"
	if err := r.SaveReview(ctx, second, again...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, mustPosts(t, r, 7)); diff != "" {
		t.Error(diff)
	}
}

// testBadPostLeavesNothing: a review whose posts cannot be saved is not saved.
func testBadPostLeavesNothing(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	v := pullReview("r1", 1, 7, finding(remote, "a.go", "x", precedent.Bugs, precedent.High))
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
func testClockSetBack(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	for i, minute := range []int{120, 0, 1, 121} { // two hours ahead, then right
		v := pullReview(fmt.Sprint("r", i), minute, 7)
		if err := r.SaveReview(ctx, v, postsOf(v, 2)...); err != nil {
			t.Fatal(err)
		}
		last, found, err := r.LastReview(ctx, 7)
		if err != nil || !found || last.ID != v.ID {
			t.Errorf("the last review after %s is %+v, %v", v.ID, last, err)
		}
		if posts := mustPosts(t, r, 7); posts[len(posts)-1].Review != v.ID || posts[len(posts)-2].Review != v.ID {
			t.Errorf("the newest posts after %s are those of %s", v.ID, posts[len(posts)-1].Review)
		}
	}
	other := pullReview("other", 2, 8)
	if err := r.SaveReview(ctx, other, postsOf(other, 1)...); err != nil {
		t.Fatal(err)
	}
	if last, _, err := r.LastReview(ctx, 8); err != nil || !last.At.Equal(other.At) {
		t.Errorf("the time of another pull request changed: %+v, %v", last, err)
	}
}

func testPostsComeFurther(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	v := pullReview("r1", 1, 7)
	if err := r.SaveReview(ctx, v, postsOf(v, 3)...); err != nil {
		t.Fatal(err)
	}
	posts := mustPosts(t, r, 7)
	for i := range posts {
		posts[i].State, posts[i].Attempts, posts[i].Remote = PostConfirmed, 2, precedent.NumberID(1<<40+int64(i))
		posts[i].Why, posts[i].Hash, posts[i].Thread = "because", "0a", "another thread"
	}
	if err := r.SetPosts(ctx, posts...); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(posts, mustPosts(t, r, 7)); diff != "" {
		t.Error(diff)
	}
	// All or none: one that is not there undoes the others.
	changed := append([]Post{}, posts...)
	changed[0].State = PostRejected
	changed[2].ID = "nobody"
	if err := r.SetPosts(ctx, changed...); err == nil {
		t.Error("a post that is not there was written")
	}
	if err := repoFor(t, db, precedent.Repo{Host: "example.com", Owner: "team", Name: "other"}).SetPosts(ctx,
		changed[0]); err == nil {
		t.Error("another repository wrote a post")
	}
	if diff := cmp.Diff(posts, mustPosts(t, r, 7)); diff != "" {
		t.Error(diff)
	}
}

func TestPostStates(t *testing.T) {
	for s, want := range map[PostState]bool{
		PostPlanned: false, PostSending: false, PostUnknown: false,
		PostConfirmed: true, PostRejected: true, PostSuperseded: true, PostUndeliverable: true,
	} {
		if s.Done() != want {
			t.Errorf("%s is done: %v", s, s.Done())
		}
	}
}

func testLastReviewOfAPullRequest(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	if v, found, err := r.LastReview(ctx, 7); v != nil || found || err != nil {
		t.Errorf("%v, %v, %v", v, found, err)
	}
	newest := pullReview("b", 4, 7, finding(remote, "a.go", "x", precedent.Bugs, precedent.High))
	for _, v := range []*precedent.Review{
		pullReview("a", 1, 7), newest, pullReview("c", 2, 7), pullReview("d", 9, 8),
		review(remote, "e", 9),
	} {
		save(t, r, v)
	}
	got, found, err := r.LastReview(ctx, 7)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	if diff := cmp.Diff(newest, got, reviewEqual); diff != "" {
		t.Error(diff)
	}
}

// testPostsOfAJoinedRepository: they come along when a remote appears.
func testPostsOfAJoinedRepository(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	theirs, mine := repoFor(t, db, remote), repoFor(t, db, local)
	for i, r := range []*Repo{theirs, mine} {
		v := pullReview(fmt.Sprint("r", i), i, 7)
		if err := r.SaveReview(ctx, v, postsOf(v, 2)...); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Book(ctx, 1.5, Bounds{Day: 9, Pull: 9, Number: 7}); err != nil {
			t.Fatal(err)
		}
	}
	joined := repoFor(t, db, remote, local)
	spent, err := joined.Book(ctx, 0, Bounds{Number: 7})
	if posts := mustPosts(t, joined, 7); len(posts) != 4 || spent.Pull != 3 || err != nil {
		t.Errorf("%d posts, %+v, %v", len(posts), spent, err)
	}
	checkHealth(t, db)
}

// testPruneKeepsWhatASummaryNeeds: the posts of a pull request go when nobody
// speaks on it any more.
func testPruneKeepsWhatASummaryNeeds(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	now := start.AddDate(1, 0, 0)
	for _, v := range []struct{ id, days, pull int }{{1, 200, 7}, {2, 100, 8}, {3, 1, 8}} {
		r1 := pullReview(fmt.Sprint("r", v.id), 1, v.pull)
		r1.At = now.AddDate(0, 0, -v.days)
		if err := r.SaveReview(ctx, r1, postsOf(r1, 2)...); err != nil {
			t.Fatal(err)
		}
	}
	deleted, err := r.Prune(ctx, now.AddDate(0, 0, -90), 50, now)
	if err != nil || deleted.Posts != 2 || len(mustPosts(t, r, 7)) != 0 || len(mustPosts(t, r, 8)) != 4 {
		t.Errorf("%+v, %v", deleted, err)
	}
	if deleted, err = r.Clear(ctx); err != nil || deleted.Posts != 4 {
		t.Errorf("%+v, %v", deleted, err)
	}
}
