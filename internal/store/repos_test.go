package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func testRepoForKeepsRepositoriesApart(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	other := precedent.Repo{Host: "example.com", Owner: "team", Name: "other"}
	a, b := repoFor(t, db, remote), repoFor(t, db, other)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	save(t, a, review(remote, "r1", 1, f))
	if _, added, err := a.Reject(ctx, dismissalOf(f)); !added || err != nil {
		t.Fatal(added, err)
	}
	if again := repoFor(t, db, remote); again.id != a.id {
		t.Error("the same identity named other rows")
	}
	if _, err := b.Review(ctx, "r1"); !errors.Is(err, ErrNoReview) {
		t.Errorf("another repository read the review: %v", err)
	}
	checkEmpty(t, b)
	// What the other does leaves this one alone.
	if _, err := b.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Prune(ctx, start.AddDate(1, 0, 0), 0, start); err != nil {
		t.Fatal(err)
	}
	if gone, err := b.Unreject(ctx, mustDismissal(t, a, f).ID); gone || err != nil {
		t.Errorf("another repository removed the dismissal: %v, %v", gone, err)
	}
	if c, err := a.Count(ctx); err != nil || c != (Counts{
		Reviews: 1, Findings: 1, Sightings: 1, Dismissals: 1,
		Rules: 1,
	}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// checkEmpty asks everything that can be asked of rows that should not be there.
func checkEmpty(t *testing.T, r *Repo) {
	t.Helper()
	ctx := t.Context()
	known, err := r.Known(ctx, []string{"a.go"}, 10)
	history, err2 := r.Shown(ctx, []string{"a.go"}, Change{})
	all, err3 := r.Shown(ctx, nil, Change{})
	byID, err4 := r.FindingsByID(ctx, "", 10)
	dismissals, err5 := r.Dismissals(ctx, start, 10)
	byPrefix, err6 := r.DismissalsByID(ctx, "", start, 10)
	counts, err7 := r.Count(ctx)
	first, _, err8 := r.Period(ctx)
	if err := errors.Join(err, err2, err3, err4, err5, err6, err7, err8); err != nil {
		t.Fatal(err)
	}
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
	if _, _, err := before.Reject(ctx, dismissalOf(old)); err != nil {
		t.Fatal(err)
	}

	after := repoFor(t, db, remote, local)
	now := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
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
	if names, err := after.Names(ctx); err != nil || !cmp.Equal(names, []precedent.Repo{remote}) {
		t.Errorf("names %v, %v", names, err)
	}
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
	save(t, mine, review(local, "m1", 1, shared(local), finding(local, "a.go", "mine", precedent.Style, precedent.Nit)))
	save(t, theirs, review(remote, "t1", 2, shared(remote), finding(remote, "a.go", "theirs", precedent.Tests,
		precedent.Low)))
	save(t, mine, review(local, "m2", 3, shared(local)))
	for _, r := range []*Repo{theirs, mine} {
		if _, _, err := r.Reject(ctx, dismissalOf(shared(remote))); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := mine.Reject(ctx, dismissalOf(finding(local, "a.go", "mine", precedent.Style,
		precedent.Nit))); err != nil {
		t.Fatal(err)
	}

	joined := repoFor(t, db, remote, local)
	if joined.id != theirs.id {
		t.Error("the remote's rows were not the ones that stayed")
	}
	if c, err := joined.Count(ctx); err != nil || c != (Counts{
		Reviews: 3, Findings: 3, Sightings: 5, Dismissals: 2,
		Rules: 1,
	}) {
		t.Errorf("%+v, %v", c, err)
	}
	k, err := joined.stored(ctx, shared(remote).Fingerprint)
	if err != nil || k.Seen != 3 || !k.First.Equal(review(local, "", 1).At) || !k.Last.Equal(review(local, "", 3).At) ||
		k.LastReview != "m2" {
		t.Errorf("%+v, %v", k, err)
	}
	for _, id := range []string{shared(local).ID, shared(remote).ID, finding(local, "a.go", "mine", precedent.Style,
		precedent.Nit).ID} {
		if found, err := joined.FindingsByID(ctx, id, 10); err != nil || len(found) != 1 {
			t.Errorf("id %s finds %v, %v", id, found, err)
		}
	}
	checkEmptyRepos(t, db, 1)
	checkHealth(t, db)
}

// testForksStayApart has two remotes with one root commit in one database.
func testForksStayApart(t *testing.T, open opener) {
	db := open(t)
	fork := precedent.Repo{Host: "example.com", Owner: "stranger", Name: "app"}
	private := repoFor(t, db, remote, local)
	save(t, private, review(remote, "r1", 1, finding(remote, "a.go", "x", precedent.Bugs, precedent.High)))
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
	var n int
	if err := db.sql.QueryRow("SELECT COUNT(*) FROM repos").Scan(&n); err != nil || n != want {
		t.Errorf("%d repositories, %v, want %d", n, err, want)
	}
}
