package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// testPrune: what nobody has seen for long goes, and what is beyond the newest of its file, unless a dismissal that
// holds, a learning, an insight or an outcome that is not old refers to it. A label of it stays.
func testPrune(t *testing.T, r *Repo) {
	ctx := t.Context()
	now := start.AddDate(0, 6, 0)
	ago := func(days int) time.Time { return now.AddDate(0, 0, -days) }
	at := func(id string, days int, findings ...precedent.Finding) {
		v := review(remote, id, 1, findings...)
		v.At = ago(days)
		save(t, r, v)
	}
	of := map[string]precedent.Finding{}
	for _, line := range []string{
		"plain", "dismissed", "expired", "again", "learned", "forgotten", "insight", "merged late", "merged long ago",
	} {
		of[line] = bug(line)
	}
	at("old", 100, slices.Collect(maps.Values(of))...)
	at("new", 5, of["again"])
	for i := range 53 {
		at(fmt.Sprint("crowd", i), 60-i, finding(remote, "crowd.go", fmt.Sprint(i), precedent.Bugs, precedent.High))
	}
	for line, days := range map[string]int{"dismissed": 90, "expired": 185} {
		j := dismissalOf(of[line])
		j.At = ago(days)
		dismiss(t, r, j)
	}
	for line, state := range map[string]precedent.LearningState{
		"learned": precedent.LearningPending, "forgotten": precedent.LearningForgotten,
	} {
		l := learningOf(line)
		l.State, l.About = state, &precedent.LearningAbout{Fingerprint: of[line].Fingerprint}
		mustAdd(t, r, l)
	}
	consolidate(t, r, "x", insightOf("pattern", of["insight"]))
	for line, days := range map[string]int{"merged late": 10, "merged long ago": 100} {
		th := threadOf(of[line], line, 7)
		th.State = precedent.ThreadResolved
		needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{th}))
		needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{outcomeOfThread(th, precedent.Fixed, ago(days))}))
	}
	// The review "old" stays: it saw some of those last.
	want := Counts{Findings: 7, Sightings: 7, Dismissals: 1, Labels: 7, Threads: 1, Outcomes: 1}
	needs.Result(t, "deleted", want)(r.Prune(ctx, ago(90), 50, now))
	needs.Result(t, "deleted again", Counts{})(r.Prune(ctx, ago(90), 50, now))
	var left, crowd []string
	for _, k := range needs.Value(r.LatestFindings(ctx, "", Page{Limit: 100}))(t) {
		if k.Path == "crowd.go" {
			crowd = append(crowd, k.Quote)
			continue
		}
		left = append(left, fmt.Sprint(k.Quote, " ", k.Seen))
	}
	slices.Sort(left)
	needs.Equal(t, []string{"again 2", "dismissed 1", "insight 1", "learned 1", "merged late 1"}, left)
	if len(crowd) != 50 || crowd[49] != "3" {
		t.Errorf("of a file: %q", crowd)
	}
	labels := map[string]string{}
	needs.NoError(t, rows(ctx, r.db.read, "SELECT place, category || confidence || outcome FROM labels WHERE repo_id = $1",
		[]any{r.id}, intoMap(labels)))
	for line, want := range map[string]string{"plain": "", "expired": "rejected", "merged long ago": "fixed"} {
		needs.Equal(t, "bugs80"+want, labels[of[line].Place])
	}
	checkHealth(t, r.db)
}

func testClear(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	v := review(remote, "big", 1)
	for i := range 300 {
		f := finding(remote, "a.go", fmt.Sprint("a very secret line ", i), precedent.Bugs, precedent.High)
		f.Note("score", "%0500d", i)
		v.Findings = append(v.Findings, f)
	}
	save(t, r, v)
	fill(t, r)
	needs.Value(r.Book(ctx, 3, Bounds{Day: 10, Pull: 10, Number: 7}))(t)
	full := needs.Value(db.Size(ctx))(t)
	needs.Result(t, "comments of the corpus", 2)(r.ClearCorpus(ctx))
	needs.Result(t, "HasCorpus", false)(r.HasCorpus(ctx))
	if deleted, err := r.Clear(ctx); err != nil || deleted.Reviews != 2 || deleted.Findings != 301 {
		t.Errorf("%+v, %v", deleted, err)
	}
	checkEmpty(t, r)
	for _, d := range tables { // also a table that a later migration makes
		if !strings.HasPrefix(d.key, "repo_id") {
			continue
		}
		if n := ask[int](t, db, "SELECT COUNT(*) FROM "+d.name+" WHERE repo_id = $1", r.id); n > 0 {
			t.Errorf("%d rows are left in %s", n, d.name)
		}
	}
	if size, err := db.Size(ctx); err != nil || db.Engine() == SQLite && size > full/2 {
		t.Errorf("%d bytes are left of %d, %v", size, full, err)
	}
	save(t, r, v)
	if size, err := db.Size(ctx); err != nil || size > full+full/4 { // what was free is used again
		t.Errorf("%d bytes after the same review as before, with %d, %v", size, full, err)
	}
}
