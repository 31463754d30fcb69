package store

import (
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// testSessions: a session is found by its hash and kind until it ends, and of those who end it one is told so.
func testSessions(t *testing.T, open opener) {
	ctx, db := t.Context(), open(t)
	s := Session{Hash: "h", Kind: AgentSession, Person: "7", Login: "ada", Detail: "a bot", At: start, Until: start.Add(time.Hour)}
	needs.NoError(t, db.SaveSession(ctx, s))
	for what, c := range map[string]struct {
		kind  SessionKind
		hash  string
		now   time.Time
		found bool
	}{
		"its own":       {AgentSession, "h", start, true},
		"another kind":  {BrowserSession, "h", start, false},
		"another hash":  {AgentSession, "g", start, false},
		"after its end": {AgentSession, "h", start.Add(time.Hour), false},
	} {
		got, found, err := db.Session(ctx, c.kind, c.hash, c.now)
		if err != nil || found != c.found || found && got != s {
			t.Errorf("%s: %+v %v %v", what, got, found, err)
		}
	}
	needs.Result(t, "the sessions of a person", []Session{s})(db.SessionsOf(ctx, AgentSession, "7", start))
	for _, want := range []bool{true, false} {
		needs.Result(t, "end", want)(db.EndSession(ctx, AgentSession, "h"))
	}
	s.Until = start.Add(time.Minute)
	later := Session{Hash: "i", Kind: BrowserSession, At: start.Add(time.Hour), Until: start.Add(2 * time.Hour)}
	for _, s := range []Session{s, later} { // the second deletes the first, which has ended
		needs.NoError(t, db.SaveSession(ctx, s))
	}
	needs.Equal(t, 1, ask[int](t, db, "SELECT COUNT(*) FROM sessions"))
}

// testAudit: a row is there before its change ends, belongs to its repository or to the server, and the newest is first.
func testAudit(t *testing.T, open opener) {
	ctx, db := t.Context(), open(t)
	a, b := repoFor(t, db, remote), repoFor(t, db, precedent.Repo{Host: "h", Owner: "o", Name: "n"})
	end, err := a.AddAudit(ctx, AuditRow{At: start, Who: "ada", Action: "dismiss", Subject: "finding", Before: "shown"})
	needs.NoError(t, err)
	if all, err := a.Audit(ctx, 9); err != nil || len(all) != 1 || all[0].After != "" || all[0].Before != "shown" {
		t.Errorf("before the change: %+v %v", all, err)
	}
	needs.NoError(t, end(ctx, "dismissed"))
	needs.Value(a.AddAudit(ctx, AuditRow{At: start, Who: "bob"}))(t)
	needs.Value(db.Server().AddAudit(ctx, AuditRow{At: start, Who: "carol"}))(t)
	if all, err := a.Audit(ctx, 9); err != nil || len(all) != 2 || all[0].Who != "bob" || all[1].After != "dismissed" {
		t.Errorf("of the repository: %+v %v", all, err)
	}
	needs.Len(t, "of another one", 0)(b.Audit(ctx, 9))
	if all, err := db.Server().Audit(ctx, 9); err != nil || len(all) != 1 || all[0].Who != "carol" {
		t.Errorf("of the server: %+v %v", all, err)
	}
}

// testListsOfPages: repositories, reviews, findings and learnings are read in parts, the newest first.
func testListsOfPages(t *testing.T, open opener) {
	ctx, now := t.Context(), start
	db := open(t, Options{Now: func() time.Time { return now }})
	second := precedent.Repo{Host: remote.Host, Owner: remote.Owner, Name: "second"}
	a, b := repoFor(t, db, remote), repoFor(t, db, second)
	repoFor(t, db, precedent.LocalRepo("0123456789012345678901234567890123456789"))
	watched := WatchedPull{Pull: 7, Head: "h", Title: "Wrap errors", Labels: []string{"a", "b c"}, Updated: start}
	needs.NoError(t, a.SaveWatched(ctx, []WatchedPull{watched}, nil))
	needs.Result(t, "watched", map[int]WatchedPull{7: watched})(a.WatchedPulls(ctx))
	number := 7
	for n, id := range []string{"r1", "r2"} {
		f := finding(remote, "src/a.go", "line "+id, precedent.Bugs, precedent.High)
		f.Trail = []precedent.Decision{{Step: "score", Text: "lowered " + id, Delta: -5, By: "learning"}}
		v := review(remote, id, n+1, f)
		v.PullRequest, v.TookMS = &number, 2_000
		save(t, a, v)
	}
	save(t, b, review(second, "r3", 1, finding(second, "b.go", "x", precedent.Bugs, precedent.Low)))

	for offset, want := range []precedent.Repo{remote, second} {
		active := needs.Value(db.ActiveRepos(ctx, Page{Limit: 1, Offset: offset}))(t)
		if len(active) != 1 || active[0].Name != want || offset == 0 && !active[0].Last.Equal(start.Add(2*time.Hour)) {
			t.Errorf("active repository %d: %+v", offset, active)
		}
	}
	facts, err := a.LatestFacts(ctx, 7, 5)
	if err != nil || len(facts) != 2 || facts[0].ID != "r2" || facts[0].FirstMS != 0 || facts[1].FirstMS != 3_602_000 {
		t.Errorf("the rounds of a pull request: %+v %v", facts, err)
	}
	for path, want := range map[string]int{"": 2, "src/a.go": 2, "src": 2, "src/": 2, "sr": 0, "a.go": 0} {
		needs.Len(t, "LatestFindings", want)(a.LatestFindings(ctx, path, Page{Limit: 5}))
	}
	needs.Result(t, "HotPaths", []string{"src/a.go"})(a.HotPaths(ctx, 5))
	effects, err := a.Effects(ctx, "learning", 5)
	if err != nil || len(effects) != 2 || effects[0].Review != "r2" || effects[0].Text != "lowered r2" {
		t.Errorf("what a learning did: %+v %v", effects, err)
	}
	mustAdd(t, a, learningOf("Ask for a test"))
	needs.Len(t, "after the last learning", 0)(a.LearningsPage(ctx, precedent.LearningActive, Page{Limit: 5, Offset: 1}))
}
