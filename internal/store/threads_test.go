package store

import (
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// threadOf makes a thread about a finding, as it is saved and read.
func threadOf(f precedent.Finding, id string, pull int) precedent.Thread {
	return precedent.Thread{
		ID: id, PullRequest: pull, Review: "r1", Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Finder: f.Finder,
		Category: f.Category, Severity: f.Severity, Confidence: f.Confidence, Title: f.Title, Body: f.Body, Quote: f.Quote,
		Span: f.Span, Commit: "head1", Comment: "41", URL: "https://example.com/41", State: precedent.ThreadOpen,
		OpenedAt: start,
		Messages: []precedent.Message{{
			ID: "42", Who: "dana", WhoID: "7", MayWrite: true, Body: "why?\x00 \"'", At: start.Add(time.Hour),
		}},
	}
}

func outcomeOfThread(t precedent.Thread, kind precedent.OutcomeKind, at time.Time) precedent.Outcome {
	return precedent.Outcome{
		Thread: t.ID, Finding: t.Finding, Fingerprint: t.Fingerprint, PullRequest: t.PullRequest, Title: t.Title,
		Category: t.Category,
		Severity: t.Severity, Confidence: t.Confidence, Kind: kind, Proof: "it was seen at " + at.String(), Who: "dana",
		Words:    "No.",
		MayWrite: true, Commit: "head2", URL: t.URL, At: at,
	}
}

func testThreads(t *testing.T, r *Repo) {
	ctx := t.Context()
	first := threadOf(bug("x"), "t1", 7)
	second := threadOf(finding(remote, "b.go", "y", precedent.Style, precedent.Nit), "t2", 7)
	second.Comment, second.OpenedAt, second.Messages = "", start.Add(-time.Hour), nil
	elsewhere := threadOf(bug("x"), "t3", 8)
	needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{first, second, elsewhere}))
	needs.Equal(t, []precedent.Thread{second, first}, needs.Value(r.Threads(t.Context(), 7))(t))

	// A thread changes; one more of its fingerprint is not a second one.
	first.State, first.Closed, first.ClosedBy = precedent.ThreadResolved, true, "dana"
	double := first
	double.ID, double.Comment = "t9", "99"
	carried := first
	carried.Current, carried.Changed = precedent.Span{Path: "a.go", Start: 9, End: 9}, true
	needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{double, carried}))
	needs.Equal(t, []precedent.Thread{second, first}, needs.Value(r.Threads(t.Context(), 7))(t))
	if got := needs.Value(r.Threads(t.Context(), 8))(t); len(got) != 1 || got[0].State != precedent.ThreadOpen {
		t.Errorf("the other pull request has %+v", got)
	}
	// An id belongs to one pull request for ever.
	moved := first
	moved.PullRequest = 9
	needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{moved}))
	needs.Len(t, "threads moved to another pull request", 0)(r.Threads(ctx, 9))

	other := repoFor(t, r.db, local)
	needs.NoError(t, other.SaveThreads(ctx, []precedent.Thread{first}))
	needs.Len(t, "the same id in another repository", 1)(other.Threads(ctx, 7))
	checkHealth(t, r.db)
}

func testOutcomes(t *testing.T, r *Repo) {
	ctx := t.Context()
	thread := threadOf(bug("x"), "t1", 7)
	for i, step := range []struct {
		kind precedent.OutcomeKind
		want int // the step whose outcome is stored then
	}{
		{precedent.OutcomeUnknown, 0},
		{precedent.IgnoredAtMerge, 1},
		{precedent.OutcomeUnknown, 1},
		{precedent.Declined, 3},
		{precedent.ResolvedUnchanged, 3},
		{precedent.Fixed, 5},
		{precedent.OutcomeUnknown, 5},
		{precedent.OutcomeUnknown, 7},
		{precedent.ResolvedUnchanged, 8},
		{precedent.OutcomeUnknown, 9},
	} {
		o := outcomeOfThread(thread, step.kind, start.Add(time.Duration(i)*time.Hour))
		o.Back = i == 7 || i == 9
		needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{o}))
		got := needs.Value(r.Outcomes(t.Context(), 7))(t)
		if len(got) != 1 || !got[0].At.Equal(start.Add(time.Duration(step.want)*time.Hour)) {
			t.Fatalf("after step %d: %+v, want that of step %d", i, got, step.want)
		}
		if step.want == i {
			o.Back = false // which is not stored
			needs.Equal(t, o, got[0])
		}
	}
}

// testPruneOfThreads: what an open thread speaks of stays until somebody knows
// its outcome, and then a label says that.
func testPruneOfThreads(t *testing.T, open opener) {
	ctx := t.Context()
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	held := map[string]precedent.Thread{}
	for i, name := range []string{"open", "settled", "fixed", "declined", "unknown", "rejected", "again"} {
		f := bug(name)
		save(t, r, pullReview(name, 1, 10+i, f))
		th := threadOf(f, "t-"+name, 10+i)
		if name == "settled" {
			th.State = precedent.ThreadResolved
		}
		held[name] = th
		needs.NoError(t, r.SaveThreads(ctx, []precedent.Thread{th}))
		if name == "rejected" || name == "again" {
			dismiss(t, r, dismissalOf(f))
		}
	}
	needs.NoError(t, r.SaveOutcomes(ctx, []precedent.Outcome{
		outcomeOfThread(held["fixed"], precedent.Fixed, start),
		outcomeOfThread(held["declined"], precedent.Declined, start),
		outcomeOfThread(held["unknown"], precedent.OutcomeUnknown, start),
		outcomeOfThread(held["rejected"], precedent.Declined, start),
		outcomeOfThread(held["again"], precedent.SuggestionTaken, start.Add(time.Hour)),
	}))
	needs.Result(t, "what is new was pruned", Counts{})(r.Prune(ctx, start.AddDate(0, 0, -1), 50, start))
	now = start.AddDate(1, 0, 0)
	want := Counts{Reviews: 5, Findings: 5, Sightings: 5, Dismissals: 2, Labels: 5, Threads: 5, Outcomes: 4}
	needs.Result(t, "deleted", want)(r.Prune(ctx, now.AddDate(0, 0, -90), 50, now))
	labels := map[string]string{}
	needs.NoError(t, rows(ctx, r.db.read, "SELECT fingerprint, outcome FROM labels WHERE repo_id = $1", []any{r.id},
		func(s scanner) error {
			var fp, outcome string
			err := s.Scan(&fp, &outcome)
			for name, th := range held {
				if th.Fingerprint == fp {
					labels[name] = outcome
				}
			}
			return err
		}))
	needs.Equal(t, map[string]string{
		"settled": "", "fixed": "fixed", "declined": "declined", "rejected": "rejected", "again": "suggestion_committed",
	}, labels)
	for _, name := range []string{"open", "unknown"} {
		needs.Len(t, name, 1)(r.Threads(ctx, held[name].PullRequest))
		needs.Value(r.Review(ctx, name))(t)
	}
	if deleted, err := r.Clear(ctx); err != nil || deleted.Threads != 2 || deleted.Outcomes != 1 {
		t.Errorf("cleared %+v, %v", deleted, err)
	}
	checkEmpty(t, r)
	checkHealth(t, r.db)
}
