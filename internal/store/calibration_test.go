package store

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
)

func mustLabels(t *testing.T, r *Repo) []calibration.Label {
	t.Helper()
	labels, err := r.Labels(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return labels
}

// testLabels: an outcome that says whether the team accepted the finding is a label, with
// the confidence that it was posted with, also after the finding was pruned. Nothing is
// learned from silence.
func testLabels(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	var want []calibration.Label
	for i, test := range []struct {
		kind     precedent.OutcomeKind
		mayWrite bool
		accepted bool
		label    bool
	}{
		{precedent.Fixed, false, true, true},
		{precedent.SuggestionTaken, false, true, true},
		{precedent.Accepted, true, true, true},
		{precedent.Declined, true, false, true},
		{precedent.Declined, false, false, false},
		{precedent.IgnoredAtMerge, true, false, false},
		{precedent.ResolvedUnchanged, true, false, false},
		{precedent.OutcomeUnknown, true, false, false},
	} {
		f := finding(remote, "a.go", fmt.Sprint(i), precedent.Bugs, precedent.High)
		save(t, r, review(remote, fmt.Sprint("r", i), 1, f))
		th := threadOf(f, fmt.Sprint("t", i), i+1)
		th.State = precedent.ThreadResolved
		o := outcomeOfThread(th, test.kind, start.Add(time.Duration(i)*time.Minute))
		o.MayWrite, o.Confidence, o.Refit, o.Finder = test.mayWrite, 60+i, -i, "bugs"
		if err := r.SaveThreads(ctx, []precedent.Thread{th}); err != nil {
			t.Fatal(err)
		}
		if err := r.SaveOutcomes(ctx, []precedent.Outcome{o}); err != nil {
			t.Fatal(err)
		}
		if test.label {
			want = append(want, calibration.Label{
				Confidence: 60 + i, Refit: -i, Accepted: test.accepted, Finder: "bugs", Category: f.Category, Severity: f.Severity,
				At: o.At,
			})
		}
	}
	if got := mustLabels(t, repoFor(t, db, local)); len(got) > 0 {
		t.Errorf("another repository reads %v", got)
	}
	if diff := cmp.Diff(want, mustLabels(t, r)); diff != "" {
		t.Error(diff)
	}
	if newest, err := r.Labels(ctx, 1); err != nil || cmp.Diff(want[len(want)-1:], newest) != "" {
		t.Errorf("the newest is %v, %v", newest, err)
	}

	later := start.AddDate(1, 0, 0)
	if deleted, err := r.Prune(ctx, later, 50, later); err != nil || deleted.Findings == 0 || deleted.Outcomes == 0 {
		t.Fatalf("pruned %+v, %v", deleted, err)
	}
	pruned := mustLabels(t, r)
	for i := range pruned {
		pruned[i].Finder = want[i].Finder // that of the finding
	}
	if diff := cmp.Diff(want, pruned); diff != "" {
		t.Errorf("after pruning: %s", diff)
	}
	testReset(t, r, want)
	if _, err := r.Clear(ctx); err != nil {
		t.Fatal(err)
	}
	checkEmpty(t, r)
	checkHealth(t, db)
}

// testReset: a reset ignores the labels up to its time, and an earlier one changes nothing.
func testReset(t *testing.T, r *Repo, want []calibration.Label) {
	t.Helper()
	for _, at := range []time.Time{want[1].At, start.AddDate(-1, 0, 0)} {
		if err := r.ResetThreshold(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		got := mustLabels(t, r)
		if len(got) != len(want)-2 || !got[0].At.Equal(want[2].At) {
			t.Errorf("after a reset: %v", got)
		}
	}
}

// testThresholds: the history has a row for each change of the threshold or its source.
func testThresholds(t *testing.T, open opener) {
	db := open(t)
	r := repoFor(t, db, remote)
	var want []Threshold
	for i, now := range []struct {
		threshold, labels int
		from              string
		row               bool
	}{
		{75, 0, "the default", true},
		{75, 0, "the default", false},
		{80, 22, "tuned from 22 outcomes", true},
		{80, 23, "tuned from 23 outcomes", true},
		{80, 23, "tuned from 23 outcomes", false},
		{75, 0, "the default", true},
	} {
		v := review(remote, fmt.Sprint("r", i), i)
		v.At, v.Threshold, v.ThresholdFrom, v.Memory.Labels = start.Add(time.Duration(i)*time.Hour), now.threshold, now.from,
			now.labels
		save(t, r, v)
		if now.row {
			want = append(want, Threshold{Review: v.ID, At: v.At, Threshold: now.threshold, From: now.from, Labels: now.labels})
		}
	}
	got, err := r.Thresholds(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if other, err := repoFor(t, db, local).Thresholds(t.Context(), 10); err != nil || len(other) > 0 {
		t.Errorf("another repository reads %v, %v", other, err)
	}
}

// testLabelsOfAJoinedRepository: what was learned before a repository had a remote counts
// afterwards.
func testLabelsOfAJoinedRepository(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	both := map[precedent.Repo]string{local: "x", remote: "y"}
	for id, line := range both {
		r := repoFor(t, db, id)
		th := threadOf(finding(id, "a.go", line, precedent.Bugs, precedent.High), "t-"+line, 7)
		if err := r.SaveOutcomes(ctx, []precedent.Outcome{outcomeOfThread(th, precedent.Fixed,
			start.Add(time.Hour))}); err != nil {
			t.Fatal(err)
		}
	}
	if err := repoFor(t, db, local).ResetThreshold(ctx, start); err != nil {
		t.Fatal(err)
	}
	r := repoFor(t, db, remote, local)
	if got := mustLabels(t, r); len(got) != 2 {
		t.Errorf("labels %v, want one of each", got)
	}
	if err := r.ResetThreshold(ctx, start.Add(time.Hour)); err != nil || len(mustLabels(t, r)) > 0 {
		t.Errorf("labels %v, %v after a reset", mustLabels(t, r), err)
	}
}

// TestLabelsOfOlderOutcomes: outcomes of an older database become labels, with what is stored
// about their finding.
func TestLabelsOfOlderOutcomes(t *testing.T) {
	ctx := t.Context()
	older := fstest.MapFS{}
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if data, err := fs.ReadFile(migrations, name); err != nil {
			t.Fatal(err)
		} else if name < "00008" {
			older[name] = &fstest.MapFile{Data: data}
		}
	}
	db := newDB(sqlite, filepath.Join(t.TempDir(), "memory.db"), options(nil))
	if db.sql, err = sql.Open("sqlite", dsn(db.path)); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.upgrade(ctx, older); err != nil {
		t.Fatal(err)
	}
	r := repoFor(t, db, remote)
	for name, kind := range map[string]precedent.OutcomeKind{
		"fixed": precedent.Fixed, "no": precedent.Declined, "author": precedent.Declined, "merged": precedent.IgnoredAtMerge,
		"gone": precedent.Fixed,
	} {
		f := finding(remote, "a.go", name, precedent.Bugs, precedent.High)
		if name != "gone" {
			if _, err := db.sql.ExecContext(ctx,
				"INSERT INTO reviews (id, repo_id, base, head, verdict, at, document, extra) VALUES ($1, $2, '', '', '', 5, "+
					"'{}', '{}')", name, r.id); err != nil {
				t.Fatal(err)
			}
			if err := db.change(ctx, "save findings", func(tx *sql.Tx) error {
				return r.saveFindings(ctx, tx, name,
					Fold([]precedent.Finding{f}), 5)
			}); err != nil {
				t.Fatal(err)
			}
		}
		document := `{"title":"a \"may_write\":true joke","may_write":` + fmt.Sprint(name == "no") + "}"
		if _, err := db.sql.ExecContext(ctx,
			"INSERT INTO outcomes (repo_id, pull, fingerprint, outcome, document, at) VALUES ($1, 7, $2, $3, $4, 5)",
			r.id, f.Fingerprint, kind, document); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.upgrade(ctx, migrations); err != nil {
		t.Fatal(err)
	}
	got := map[bool]int{}
	for _, l := range mustLabels(t, r) {
		got[l.Accepted]++
		if l.Confidence != 80 || l.Category != precedent.Bugs {
			t.Errorf("%+v", l)
		}
	}
	if diff := cmp.Diff(map[bool]int{true: 1, false: 1}, got); diff != "" {
		t.Error(diff)
	}
}
