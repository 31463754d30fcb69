package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// insightOf is an active insight about findings.
func insightOf(text string, findings ...precedent.Finding) precedent.Insight {
	i := precedent.Insight{
		ID: precedent.InsightID(text), State: precedent.InsightActive, Text: text, Scope: "internal/**",
		Category:  precedent.Bugs,
		Citations: []string{"a"}, PullRequests: []int{1, 2, 3}, People: []string{"dana", "kim"}, Changes: 3, Accepted: 4,
		CreatedAt: start, UpdatedAt: start,
	}
	for _, f := range findings {
		i.Findings = append(i.Findings, f.Fingerprint)
	}
	return i
}

// consolidate saves insights as one run.
func consolidate(t *testing.T, r *Repo, holder string, found ...precedent.Insight) {
	t.Helper()
	needs.Result(t, "begun", true)(r.BeginConsolidation(t.Context(), holder, time.Minute))
	needs.Result(t, "ended", true)(r.EndConsolidation(t.Context(), holder, found, false))
}

func testInsights(t *testing.T, r *Repo) {
	ctx := t.Context()
	i := insightOf("Errors are dropped", bug("x"))
	consolidate(t, r, "one", i)
	check := func(want precedent.Insight) {
		t.Helper()
		needs.Result(t, "Insights", []precedent.Insight{want})(r.Insights(ctx))
	}
	check(i)
	d := &precedent.InsightDismissal{Who: "dana", Reason: "noise", At: start.Add(time.Hour)}
	needs.NoError(t, r.DismissInsight(ctx, i.ID, d))
	dismissed := i
	dismissed.State, dismissed.Dismissed = precedent.InsightPaused, d
	check(dismissed)
	// A run that read it before the person dismissed it does not undo that.
	later := i
	later.Text = "Errors are dropped again"
	consolidate(t, r, "two", later)
	dismissed.Text = later.Text
	check(dismissed)
	needs.NoError(t, r.DismissInsight(ctx, i.ID, nil))
	check(later)
	if err := r.DismissInsight(ctx, "nothing", d); !errors.Is(err, ErrNoInsight) {
		t.Error(err)
	}
	needs.Len(t, "by id", 1)(r.InsightsByID(ctx, i.ID[:6], 2))
	if c, err := r.Clear(ctx); err != nil || c.Insights != 1 {
		t.Errorf("cleared %+v, %v", c, err)
	}
	needs.Result(t, "after clearing", Consolidation{})(r.Consolidation(ctx))
}

// testConsolidationsTakeTurns: of two at once one runs. The turn of a run that was killed ends
// with its time, and then it saves nothing any more.
func testConsolidationsTakeTurns(t *testing.T, open opener) {
	ctx := t.Context()
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	begin := func(holder string, want bool) {
		t.Helper()
		needs.Result(t, fmt.Sprintf("%s began", holder), want)(r.BeginConsolidation(ctx, holder, time.Minute))
	}
	save(t, r, review(remote, "r1", 1, bug("x")))
	needs.Result(t, "Consolidation", Consolidation{NewSinceAttempt: 1, NewSinceCompleted: 1})(r.Consolidation(ctx))
	begin("killed", true)
	begin("second", false)
	needs.Result(t, "attempted", Consolidation{AttemptedAt: start, NewSinceCompleted: 1})(r.Consolidation(ctx))
	now = now.Add(time.Minute)
	begin("second", true)
	needs.Result(t, "saved after its turn", false)(r.EndConsolidation(ctx, "killed", []precedent.Insight{insightOf("late")}, false))
	needs.Result(t, "failed", true)(r.EndConsolidation(ctx, "second", nil, true))
	if c, err := r.Consolidation(ctx); err != nil || !c.CompletedAt.IsZero() || c.NewSinceCompleted != 1 {
		t.Errorf("a failed run counts as complete: %+v, %v", c, err)
	}
	begin("third", true)
	needs.Result(t, "third", true)(r.EndConsolidation(ctx, "third", []precedent.Insight{insightOf("found")}, false))
	needs.Result(t, "completed", Consolidation{AttemptedAt: now, CompletedAt: now})(r.Consolidation(ctx))
	if got, err := r.Insights(ctx); err != nil || len(got) != 1 || got[0].Text != "found" {
		t.Errorf("%v, %v", got, err)
	}
}

func testAppearances(t *testing.T, r *Repo) {
	ctx := t.Context()
	a, b := bug("x"),
		finding(remote, "b.go", "y", precedent.Style, precedent.Nit)
	hidden := finding(remote, "c.go", "z", precedent.Style, precedent.Nit)
	hidden.Drop("select", precedent.BelowThreshold, "", "low")
	for n, pull := range []int{9, 7, 7, 0} {
		v := review(remote, fmt.Sprint(n), n, a, hidden)
		if pull > 0 {
			v.PullRequest = &pull
		} else {
			v.Findings, v.Reading = append(v.Findings, b), &precedent.Reading{Work: "main"}
		}
		save(t, r, v)
	}
	o := outcomeOfThread(threadOf(a, "t1", 7), precedent.Fixed, start)
	unknown := outcomeOfThread(threadOf(a, "t2", 9), precedent.OutcomeUnknown, start)
	needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{o, unknown}))
	got := needs.Value(r.Appearances(ctx, 10))(t)
	needs.Equal(t, 2, len(got))
	slices.SortFunc(got, func(a, b Appearance) int { return len(b.Pulls) - len(a.Pulls) })
	if !slices.Equal(got[0].Pulls, []int{7, 9}) || len(got[0].Changes) != 3 ||
		!cmp.Equal(got[0].Outcomes, []precedent.Outcome{o}) || got[0].Title != a.Title {
		t.Errorf("%+v", got[0])
	}
	if len(got[1].Pulls) > 0 || !slices.Equal(got[1].Changes, []string{"work main"}) {
		t.Errorf("%+v", got[1])
	}
	needs.Len(t, "limited", 1)(r.Appearances(ctx, 1))
	// What an insight is about is read whatever the limit.
	consolidate(t, r, "x", insightOf("all", a, b))
	needs.Len(t, "with insights", 2)(r.Appearances(ctx, 1))
}
