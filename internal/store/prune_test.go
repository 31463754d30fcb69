package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

func testPrune(t *testing.T, r *Repo) {
	ctx := t.Context()
	now := start.AddDate(0, 6, 0)
	at := func(id string, days int, findings ...precedent.Finding) {
		v := review(remote, id, 1, findings...)
		v.At = now.AddDate(0, 0, -days)
		save(t, r, v)
	}
	make := func(path, line string) precedent.Finding {
		return finding(remote, path, line, precedent.Bugs, precedent.High)
	}
	old, spared, again, expired := make("old.go", "old"), make("old.go", "spared"), make("old.go", "again"),
		make("old.go", "expired")
	at("old", 100, old, spared, again, expired)
	at("new", 5, again)
	for i := range 53 {
		at(fmt.Sprint("crowd", i), 60-i, make("crowd.go", fmt.Sprint(i)))
	}
	for f, days := range map[*precedent.Finding]int{&spared: 90, &expired: 185} {
		j := dismissalOf(*f)
		j.At = now.AddDate(0, 0, -days)
		dismiss(t, r, j)
	}
	deleted, err := r.Prune(ctx, now.AddDate(0, 0, -90), 50, now)
	needs.NoError(t, err)
	// The review "old" stays: it saw the spared finding last.
	needs.Equal(t, (Counts{Findings: 5, Sightings: 5, Dismissals: 1, Labels: 5}), deleted)
	for _, test := range []struct {
		f    precedent.Finding
		want bool
	}{
		{old, false},
		{spared, true},
		{again, true},
		{expired, false},
		{make("crowd.go", "0"), false},
		{make("crowd.go", "3"), true},
	} {
		found, err := r.FindingsByID(ctx, test.f.ID, 2)
		if err != nil || (len(found) == 1) != test.want {
			t.Errorf("%s: found %v, %v, want %v", test.f.Title, found, err, test.want)
		}
	}
	labels := map[string]string{}
	err = rows(ctx, r.db.read, "SELECT place, category, confidence, outcome FROM labels WHERE repo_id = $1", []any{r.id},
		func(s scanner) error {
			var place, category, outcome string
			var confidence int
			err := s.Scan(&place, &category, &confidence, &outcome)
			labels[place] = fmt.Sprint(category, " ", confidence, " ", outcome)
			return err
		})
	if err != nil || labels[old.Place] != "bugs 80 " || labels[expired.Place] != "bugs 80 rejected" || len(labels) != 5 {
		t.Errorf("labels %v, %v", labels, err)
	}
	needs.Result(t, "a second time", Counts{})(r.Prune(ctx, now.AddDate(0, 0, -90), 50, now))
	if k, err := r.stored(ctx, again.Fingerprint); err != nil || k.Seen != 2 {
		t.Errorf("a finding that stays was seen %d times, %v, want 2", k.Seen, err)
	}
	// With everything old and nothing spared, nothing but labels is left.
	needs.Value(r.Prune(ctx, now.AddDate(1, 0, 0), 50, now.AddDate(1, 0, 0)))(t)
	needs.Result(t, "Count", Counts{Labels: 57})(r.Count(ctx))
	checkHealth(t, r.db)
}

func testClear(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	v := review(remote, "r1", 1)
	for i := range 300 {
		f := finding(remote, "a.go", fmt.Sprint("a very secret line ", i), precedent.Bugs, precedent.High)
		f.Note("score", "%0500d", i)
		v.Findings = append(v.Findings, f)
	}
	save(t, r, v)
	dismiss(t, r, dismissalOf(v.Findings[0]))
	err := r.MergeShared(ctx, func(Shared) (Shared, error) {
		return Shared{Findings: []SharedFinding{{Fingerprint: "elsewhere", Path: "a.go", Seen: 1, First: start, Last: start}}}, nil
	})
	needs.NoError(t, err)
	needs.Value(r.Book(ctx, 3, Bounds{Day: 10, Pull: 10, Number: 7}))(t)
	full := needs.Value(db.Size(ctx))(t)
	deleted, err := r.Clear(ctx)
	if want := (Counts{Reviews: 1, Findings: 300, Sightings: 300, Dismissals: 1}); err != nil ||
		deleted != want {
		t.Errorf("%+v, %v, want %+v", deleted, err, want)
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
