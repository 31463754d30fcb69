package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestStatistics: numbers come from what is stored, each with its samples, and what is not there is missing.
func TestStatistics(t *testing.T) {
	ctx := t.Context()
	m, now := remember(t)
	empty := needs.Value(m.Statistics(ctx, time.Time{}))(t)
	for _, v := range empty.Measures {
		if v.Value != nil || v.Samples != 0 || v.Met() {
			t.Errorf("without data: %+v", v)
		}
	}
	pulled := func(id string, number int, head string, fs ...precedent.Finding) {
		v := &precedent.Review{
			ID: id, Repo: repo, Base: "base", Head: head, Scope: precedent.FullScope, Verdict: precedent.Findings,
			Threshold: 75, Findings: fs, At: *now, PullRequest: &number, ThresholdFrom: fmt.Sprint("of ", number),
			CostUSD: 0.5, TookMS: 2_000, Usage: precedent.Usage{Requests: 3, InputTokens: 100}, RulesChecked: []precedent.Rule{{ID: "r", Text: "Wrap errors", Source: "CLAUDE.md"}},
		}
		needs.NoError(t, m.Rows.SaveReview(ctx, v))
	}
	at := func(line string, p precedent.Placement) precedent.Finding {
		f := find("a.go", line, precedent.Bugs, precedent.Medium, "about "+line)
		if f.Placement = p; p == precedent.Hidden {
			f.Dropped = precedent.Refuted
		}
		return f
	}
	one, two, three := at("one", precedent.Inline), at("two", precedent.Inline), at("three", precedent.Summary)
	pulled("r1", 7, "h1", one, at("never", precedent.Hidden))
	again := one
	again.Thread = "t1"
	pulled("r2", 7, "h2", again)
	*now = now.AddDate(0, 0, 40)
	pulled("r3", 8, "h3", two, three, at("four", precedent.Inline))
	threads := []precedent.Thread{posted(one, "t1"), posted(two, "t2")}
	threads[0].State = precedent.ThreadResolved
	threads[1].PullRequest = 8
	rows := m.Rows
	needs.NoError(t, rows.SaveThreads(ctx, threads))
	outcomes := []precedent.Outcome{became(threads[0], precedent.Fixed, "", "", false), became(threads[1], precedent.Declined, "kim", "no", true)}
	outcomes[0].Confidence, outcomes[1].Confidence = 90, 80
	outcomes[0].Severity, outcomes[1].Severity = precedent.High, precedent.Low
	for i := range outcomes {
		needs.Value(m.Learn(ctx, outcomes[i].PullRequest, threads, outcomes[i:i+1]))(t)
	}
	s := needs.Value(m.Statistics(ctx, time.Time{}))(t)
	got := needs.Each(s.Measures,
		func(v Measure) string { return fmt.Sprintf("%s: %.2f of %d, %v", v.Name, *v.Value, v.Samples, v.Met()) })
	want := []string{
		"findings shown on their lines: 0.75 of 4, false",
		"posted findings accepted: 0.50 of 2, false",
		"findings per pull request, times the first month's: 3.00 of 1, true",
		"threads resolved: 0.50 of 2, false",
		"guide loaded where there is one: 1.00 of 3, true",
	}
	needs.Equal(t, want, got)
	if s.Reviews != 3 || s.Pulls != 2 || s.Rounds != 1.5 || s.Hidden[precedent.Refuted] != 1 || s.CostUSD != 1.5 || s.TookMS != 2_000 || s.Usage.InputTokens != 300 {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]Answered{{"high", 1, 0}, {"low", 0, 1}}, s.BySeverity); d != "" || s.ByConfidence.Points != 2 || s.Optimal.Threshold == 0 {
		t.Errorf("%s %+v %+v", d, s.ByConfidence, s.Optimal)
	}
	needs.Equal(t, []string{"of 7", "of 8"}, needs.Each(s.Thresholds, func(t store.Threshold) string { return t.From }))
	needs.Equal(t, []Person{{Login: "kim", Declined: 1, Dismissed: 1}}, s.People)
	late, err := m.Statistics(ctx, now.AddDate(0, 0, -1))
	if err != nil || late.Reviews != 1 || late.Shown[precedent.Inline] != 2 {
		t.Errorf("since yesterday: %+v %v", late, err)
	}
}
