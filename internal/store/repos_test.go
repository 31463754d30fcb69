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

// joined joins the rows of a root commit to those that its remote has from another clone.
func joined(t *testing.T, theirs *Repo) *Repo {
	t.Helper()
	r := repoFor(t, theirs.db, remote, local)
	needs.Equal(t, theirs.id, r.id)
	checkEmptyRepos(t, r.db, 1)
	checkHealth(t, r.db)
	return r
}

// testJoinedFindings: one row with the sightings of both remains, and of two dismissals one. An insight that one of
// them dismissed stays so, and what it is about is not pruned.
func testJoinedFindings(t *testing.T, open opener) {
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
	alone, both := insightOf("of the local one", shared(local)), insightOf("of both", shared(local))
	consolidate(t, mine, "x", alone, both)
	needs.NoError(t, mine.DismissInsight(ctx, both.ID, &precedent.InsightDismissal{Who: "dana", At: start}))
	consolidate(t, theirs, "y", both)

	r := joined(t, theirs)
	needs.Result(t, "Count", Counts{Reviews: 3, Findings: 3, Sightings: 5, Dismissals: 2, Insights: 2})(r.Count(ctx))
	k, err := r.stored(ctx, shared(remote).Fingerprint)
	if err != nil || k.Seen != 3 || !k.First.Equal(review(local, "", 1).At) || !k.Last.Equal(review(local, "", 3).At) ||
		k.LastReview != "m2" {
		t.Errorf("%+v, %v", k, err)
	}
	for _, id := range []string{shared(local).ID, shared(remote).ID, own.ID} {
		needs.Len(t, fmt.Sprintf("id %s finds", id), 1)(r.FindingsByID(ctx, id, 10))
	}
	for _, i := range needs.Value(r.Insights(ctx))(t) {
		if (i.Dismissed != nil) != (i.ID == both.ID) {
			t.Errorf("%+v", i)
		}
	}
	later := start.AddDate(2, 0, 0)
	needs.Value(r.Prune(ctx, later, 50, later))(t)
	if _, err := r.stored(ctx, shared(remote).Fingerprint); err != nil {
		t.Errorf("the finding of an insight was pruned: %v", err)
	}
}

// testJoined: spending is added up, of two threads about one finding one stays, an outcome that is known counts, what
// was forgotten stays so, and of two versions of a comment the newer stays.
func testJoined(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	theirs, mine := repoFor(t, db, remote), repoFor(t, db, local)
	both, only, clash := threadOf(bug("both"), "t1", 7), threadOf(bug("only"), "t2", 7), threadOf(bug("clash"), "t1", 8)
	renamed := both
	renamed.ID = "t4"
	l, gone := learningOf("check errors"), learningOf("check nothing")
	mustAdd(t, theirs, gone)
	gone.State = precedent.LearningForgotten
	mustAdd(t, mine, gone)
	mustAdd(t, mine, l)
	newer := reply("1", "1", 0, "first, edited")
	newer.UpdatedAt = start.Add(time.Hour)
	for r, has := range map[*Repo]struct {
		threads  []precedent.Thread
		outcomes []precedent.Outcome
		comments []precedent.CorpusComment
	}{
		theirs: {
			[]precedent.Thread{both},
			[]precedent.Outcome{
				outcomeOfThread(both, precedent.OutcomeUnknown, start), outcomeOfThread(clash, precedent.Fixed, start),
			},
			[]precedent.CorpusComment{newer, reply("2", "1", 2, "of the new")},
		},
		mine: {
			[]precedent.Thread{renamed, only, clash},
			[]precedent.Outcome{
				outcomeOfThread(both, precedent.Declined, start), outcomeOfThread(clash, precedent.Declined, start),
				outcomeOfThread(only, precedent.OutcomeUnknown, start),
			},
			[]precedent.CorpusComment{reply("1", "1", 0, "first"), reply("3", "1", 3, "of the old")},
		},
	} {
		needs.NoError(t, r.SaveThreads(ctx, has.threads))
		needs.NoError(t, r.SaveOutcomes(ctx, has.outcomes))
		saveCorpus(t, r, corpusPage(has.comments...))
		needs.Value(r.Book(ctx, 1.5, Bounds{Day: 9, Pull: 9, Number: 7}))(t)
	}
	needs.NoError(t, mine.ResetThreshold(ctx, start))

	r := joined(t, theirs)
	needs.Equal(t, []precedent.Thread{both, only}, needs.Value(r.Threads(t.Context(), 7))(t))
	got := map[string]precedent.OutcomeKind{}
	for _, o := range append(needs.Value(r.Outcomes(t.Context(), 7))(t), needs.Value(r.Outcomes(t.Context(), 8))(t)...) {
		got[o.Fingerprint] = o.Kind
	}
	needs.Equal(t, map[string]precedent.OutcomeKind{
		both.Fingerprint: precedent.Declined, only.Fingerprint: precedent.OutcomeUnknown, clash.Fingerprint: precedent.Fixed,
	}, got)
	needs.Result(t, "spending", Booked{3, 3, ""})(r.Book(ctx, 0, Bounds{Number: 7}))
	needs.Len(t, "labels after a reset", 0)(r.Labels(ctx, 100))
	needs.Result(t, "Learnings", []precedent.Learning{l})(r.Learnings(ctx, precedent.LearningActive))
	needs.Result(t, "RefreshCorpus", 2)(r.RefreshCorpus(ctx, corpusPage()))
	conversation := "first, edited\nof the new\nof the old"
	needs.Equal(t, []string{"1/0: " + conversation, "1/1: " + conversation}, texts(t, r))
	other := corpusPage()
	other.Rules = 2
	for _, want := range []int{2, 0} { // it is made again once
		needs.Result(t, "other rules", want)(r.RefreshCorpus(ctx, other))
	}
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
