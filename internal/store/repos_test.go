package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// checkEmpty asks everything that can be asked of rows that should not be there.
func checkEmpty(t *testing.T, r *Repo) {
	t.Helper()
	ctx := t.Context()
	known, err := r.Known(ctx, []string{"a.go"}, 10)
	history, err2 := r.Shown(ctx, []string{"a.go"}, Change{})
	all, err3 := r.LatestFindings(ctx, "", Page{Limit: 10})
	byID, err4 := r.FindingsByID(ctx, "", 10)
	dismissals, err5 := r.Dismissals(ctx, start, 10)
	byPrefix, err6 := r.DismissalsByID(ctx, "", start, 10)
	counts, err7 := r.Count(ctx)
	first, _, err8 := r.Period(ctx)
	needs.NoError(t, errors.Join(err, err2, err3, err4, err5, err6, err7, err8))
	if len(known)+len(history)+len(all)+len(byID)+len(dismissals)+len(byPrefix) > 0 || counts != (Counts{}) ||
		!first.IsZero() {
		t.Error(known, history, all, byID, dismissals, byPrefix, counts, first)
	}
}

func testRepoForRefusesNobody(t *testing.T, open opener) {
	db := open(t)
	for _, identities := range [][]precedent.Repo{nil, {{}}, {remote, {}}} {
		if _, err := db.RepoFor(t.Context(), identities...); !errors.Is(err, precedent.ErrRepo) {
			t.Errorf("%v: error %v", identities, err)
		}
	}
}

// testRemoteAppears has a repository that is known by its root commit get a remote.
func testRemoteAppears(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	before := repoFor(t, db, local)
	old := finding(local, "a.go", "x", precedent.Bugs, precedent.High)
	save(t, before, review(local, "r1", 1, old))
	dismiss(t, before, dismissalOf(old))

	after := repoFor(t, db, remote, local)
	now := bug("x")
	if now.ID == old.ID {
		t.Fatal("both identities make the same id")
	}
	for _, id := range []string{old.ID, now.ID} {
		found, err := after.FindingsByID(ctx, id[:6], 10)
		if err != nil || len(found) != 1 || found[0].ID != now.ID {
			t.Errorf("id %s finds %v, %v", id, found, err)
		}
		dismissals, err := after.DismissalsByID(ctx, id, start, 10)
		if err != nil || len(dismissals) != 1 || dismissals[0].Finding != now.ID {
			t.Errorf("id %s finds the dismissals %v, %v", id, dismissals, err)
		}
	}
	v := review(remote, "r2", 2, now)
	save(t, after, v)
	if v.Sightings[now.ID] != 2 {
		t.Errorf("sightings %v, want 2", v.Sightings)
	}
	if got, err := after.Review(ctx, "r1"); err != nil || got.Repo != local {
		t.Errorf("the old review is %+v, %v", got, err)
	}
	for _, identities := range [][]precedent.Repo{{remote}, {local}, {local, remote}} {
		if r := repoFor(t, db, identities...); r.id != after.id {
			t.Errorf("%v names other rows", identities)
		}
	}
	needs.Result(t, "names", []precedent.Repo{remote})(after.Names(ctx))
	checkHealth(t, db)
}

// testRemoteKnownAlready joins rows of a root commit to those that its remote
// has from another clone.
func testRemoteKnownAlready(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	theirs, mine := repoFor(t, db, remote), repoFor(t, db, local)
	shared := func(r precedent.Repo) precedent.Finding {
		return finding(r, "a.go", "shared", precedent.Bugs, precedent.High)
	}
	own := finding(local, "a.go", "mine", precedent.Style, precedent.Nit)
	save(t, mine, review(local, "m1", 1, shared(local), own))
	save(t, theirs, review(remote, "t1", 2, shared(remote), finding(remote, "b.go", "y", precedent.Tests, precedent.Low)))
	save(t, mine, review(local, "m2", 3, shared(local)))
	dismiss(t, theirs, dismissalOf(shared(remote)))
	dismiss(t, mine, dismissalOf(shared(remote)))
	dismiss(t, mine, dismissalOf(own))

	joined := repoFor(t, db, remote, local)
	if joined.id != theirs.id {
		t.Error("the remote's rows were not the ones that stayed")
	}
	needs.Result(t, "Count", Counts{Reviews: 3, Findings: 3, Sightings: 5, Dismissals: 2})(joined.Count(ctx))
	k, err := joined.stored(ctx, shared(remote).Fingerprint)
	if err != nil || k.Seen != 3 || !k.First.Equal(review(local, "", 1).At) || !k.Last.Equal(review(local, "", 3).At) ||
		k.LastReview != "m2" {
		t.Errorf("%+v, %v", k, err)
	}
	for _, id := range []string{shared(local).ID, shared(remote).ID, own.ID} {
		needs.Len(t, fmt.Sprintf("id %s finds", id), 1)(joined.FindingsByID(ctx, id, 10))
	}
	checkEmptyRepos(t, db, 1)
	checkHealth(t, db)
}

// testJoined: posts, spending, labels and learnings of both repositories come along, and what was forgotten stays so.
func testJoined(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	theirs, mine := repoFor(t, db, remote), repoFor(t, db, local)
	for i, r := range []*Repo{theirs, mine} {
		v := pullReview(fmt.Sprint("r", i), i, 7)
		needs.NoError(t, r.SaveReview(ctx, v, postsOf(v, 2)...))
		needs.Value(r.Book(ctx, 1.5, Bounds{Day: 9, Pull: 9, Number: 7}))(t)
		th := threadOf(bug(v.ID), "t-"+v.ID, 7)
		needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{outcomeOfThread(th, precedent.Fixed, start.Add(time.Hour))}))
	}
	needs.NoError(t, mine.ResetThreshold(ctx, start))
	l, gone := learningOf("check errors"), learningOf("check nothing")
	mustAdd(t, theirs, gone)
	gone.State = precedent.LearningForgotten
	mustAdd(t, mine, gone)
	mustAdd(t, mine, l)

	joined := repoFor(t, db, remote, local)
	needs.Equal(t, 4, len(mustPosts(t, joined, 7)))
	needs.Result(t, "spending", Booked{3, 3, ""})(joined.Book(ctx, 0, Bounds{Number: 7}))
	needs.Len(t, "labels of each", 2)(joined.Labels(ctx, 100))
	needs.NoError(t, joined.ResetThreshold(ctx, start.Add(time.Hour)))
	needs.Len(t, "labels after a reset", 0)(joined.Labels(ctx, 100))
	needs.Result(t, "Learnings", []precedent.Learning{l})(joined.Learnings(ctx, precedent.LearningActive))
	needs.Len(t, "LearningHistory", 1)(joined.LearningHistory(ctx, l.ID))
	checkHealth(t, db)
}

// testForksStayApart has two remotes with one root commit in one database.
func testForksStayApart(t *testing.T, open opener) {
	db := open(t)
	fork := precedent.Repo{Host: "example.com", Owner: "stranger", Name: "app"}
	private := repoFor(t, db, remote, local)
	save(t, private, review(remote, "r1", 1, bug("x")))
	checkEmpty(t, repoFor(t, db, fork, local))
	checkEmpty(t, repoFor(t, db, local))
	// The rows of the root commit alone now go to the first that names it, once.
	if r := repoFor(t, db, remote, local); r.id != private.id {
		t.Error("the remote's rows changed")
	}
	checkEmpty(t, repoFor(t, db, fork, local))
	checkEmptyRepos(t, db, 2)
}

func checkEmptyRepos(t *testing.T, db *DB, want int) {
	t.Helper()
	needs.Equal(t, want, ask[int](t, db, "SELECT COUNT(*) FROM repos"))
}

// testFollow has a repository that is renamed, and others that get its names.
func testFollow(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	called := func(name string) precedent.Repo { return precedent.Repo{Host: remote.Host, Owner: "team", Name: name} }
	number := func(n precedent.ForgeID) precedent.Repo { return precedent.NumberedRepo(remote.Host, n) }
	follow := func(n precedent.ForgeID, names ...precedent.Repo) *Repo {
		t.Helper()
		for range 2 { // the second time nothing changes
			needs.NoError(t, db.Follow(ctx, number(n), names...))
		}
		return repoFor(t, db, names...) //nolint:contextcheck // it uses that of the test, as ctx is
	}
	f := finding(called("app"), "a.go", "x", precedent.Bugs, precedent.High)
	first := repoFor(t, db, called("app"), local) // before its number was known
	save(t, first, review(called("app"), "r1", 1, f))

	renamed := follow("7", called("store"), called("app"), local)
	if renamed.id != first.id || repoFor(t, db, called("app")).id != first.id {
		t.Error("the memory did not follow the name")
	}
	now := precedent.FindingID(called("store"), f.Fingerprint)
	for _, id := range []string{f.ID, now} {
		if found, err := renamed.FindingsByID(ctx, id, 10); err != nil || len(found) != 1 || found[0].ID != now {
			t.Errorf("id %s finds %v, %v", id, found, err)
		}
	}
	needs.Result(t, "names", []precedent.Repo{called("app"), called("store")})(renamed.Names(ctx))
	needs.Result(t, "the present name", called("store"))(db.PresentName(ctx, called("app")))
	follow("7", called("app"))
	needs.Result(t, "the present name", called("app"))(db.PresentName(ctx, called("store")))

	// Another clone knew the newest name before this memory did.
	other := repoFor(t, db, called("shop"))
	save(t, other, review(called("shop"), "r2", 2, finding(called("shop"), "b.go", "y", precedent.Bugs, precedent.High)))
	if moved := follow("7", called("shop")); moved.id != first.id {
		t.Error("the memory did not follow the number")
	} else if c, err := moved.Count(ctx); err != nil || c.Reviews != 2 {
		t.Errorf("%+v, %v", c, err)
	}

	// A new repository takes a former name, and then the present one: it has no memory.
	for i, name := range []string{"app", "shop"} {
		taken := follow(precedent.NumberID(int64(8+i)), called(name), local)
		if c, err := taken.Count(ctx); err != nil || taken.id == first.id || c != (Counts{}) {
			t.Errorf("%s: a new repository reads the memory of another: %+v, %v", name, c, err)
		}
	}
	if again := follow("7", called("end")); again.id != first.id {
		t.Error("the number lost its memory")
	}
	checkHealth(t, db)
}
