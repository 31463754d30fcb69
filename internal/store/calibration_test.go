package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
)

// testLabels: an outcome that says whether the team accepted the finding is a label, with
// the confidence that it was posted with, also after the finding was pruned. Nothing is
// learned from silence.
func testLabels(t *testing.T, r *Repo) {
	ctx := t.Context()
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
		f := bug(fmt.Sprint(i))
		save(t, r, review(remote, fmt.Sprint("r", i), 1, f))
		th := threadOf(f, fmt.Sprint("t", i), i+1)
		th.State = precedent.ThreadResolved
		o := outcomeOfThread(th, test.kind, start.Add(time.Duration(i)*time.Minute))
		o.MayWrite, o.Confidence, o.Refit, o.Finder = test.mayWrite, 60+i, -i, "bugs"
		needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{th}))
		needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{o}))
		if test.label {
			want = append(want, calibration.Label{
				Confidence: 60 + i, Refit: -i, Accepted: test.accepted, Finder: "bugs", Category: f.Category, Severity: f.Severity,
				At: o.At,
			})
		}
	}
	needs.Equal(t, want, needs.Value(r.Labels(t.Context(), 100))(t))
	needs.Result(t, "the newest", want[len(want)-1:])(r.Labels(ctx, 1))

	later := start.AddDate(1, 0, 0)
	if deleted, err := r.Prune(ctx, later, 50, later); err != nil || deleted.Findings == 0 || deleted.Outcomes == 0 {
		t.Fatalf("pruned %+v, %v", deleted, err)
	}
	pruned := needs.Value(r.Labels(t.Context(), 100))(t)
	for i := range pruned {
		pruned[i].Finder = want[i].Finder // that of the finding
	}
	needs.Equal(t, want, pruned)
	testReset(t, r, want)
	needs.Value(r.Clear(ctx))(t)
	checkEmpty(t, r)
	checkHealth(t, r.db)
}

// testReset: a reset ignores the labels up to its time, and an earlier one changes nothing.
func testReset(t *testing.T, r *Repo, want []calibration.Label) {
	t.Helper()
	for _, at := range []time.Time{want[1].At, start.AddDate(-1, 0, 0)} {
		needs.NoError(t, r.ResetThreshold(t.Context(), at))
		got := needs.Value(r.Labels(t.Context(), 100))(t)
		if len(got) != len(want)-2 || !got[0].At.Equal(want[2].At) {
			t.Errorf("after a reset: %v", got)
		}
	}
}
