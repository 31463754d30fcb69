package store

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func testReviewComesBackWhole(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	number := 7
	want := randomReview(rand.New(rand.NewPCG(1, 2)), remote, "r1")
	analyzer := finding(remote, "b.go", "y", precedent.Secrets, precedent.Critical)
	analyzer.Analyzer = true
	analyzer.Trail = append(analyzer.Trail, precedent.Decision{
		Step: "suppress", Text: "lowered", Delta: -15,
		By: "rejection",
	})
	nowhere := finding(remote, "c.go", "z", precedent.Bugs, precedent.Low)
	nowhere.ID, nowhere.Fingerprint, nowhere.Place = "", "", ""
	nowhere.Drop("place", precedent.NoEvidence, "", "the quote is nowhere in the change")
	want.Findings = append(want.Findings, analyzer, nowhere)
	want.PullRequest = &number
	want.Gate = &precedent.GateResult{Status: "ok", Command: "make test"}
	want.Failures = []precedent.Failure{{Step: "verify", Error: "timeout"}}
	want.Repo = precedent.Repo{Host: "example.com:8443", Owner: "group/sub", Name: "app"}
	save(t, r, want)
	got, err := r.Review(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, reviewEqual); diff != "" {
		t.Error(diff)
	}
	if _, err := r.stored(ctx, ""); err == nil {
		t.Error("a finding without a fingerprint was saved apart from its review")
	}
}

func testSameReviewAgain(t *testing.T, open opener) {
	db := open(t)
	r := repoFor(t, db, remote)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	for range 2 { // as after a commit whose answer was lost
		v := review(remote, "r1", 1, f)
		save(t, r, v)
		if v.Sightings[f.ID] != 1 {
			t.Errorf("sightings %v, want 1", v.Sightings)
		}
	}
	if c, err := r.Count(t.Context()); err != nil || c.Sightings != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if err := r.SaveReview(t.Context(), review(remote, "", 1)); err == nil || !strings.Contains(err.Error(), "no id") {
		t.Errorf("a review without an id: %v", err)
	}
}

// testSightings reviews one change twice: one finding, seen twice.
func testSightings(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	live := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	double := live
	double.Drop("merge", precedent.Duplicate, live.ID, "says the same")
	below := finding(remote, "a.go", "y", precedent.Style, precedent.Nit)
	below.Drop("select", precedent.BelowThreshold, "", "below 75")
	for i, id := range []string{"r1", "r2"} {
		v := review(remote, id, 1, double, live, below)
		v.At = v.At.Add(time.Duration(i) * time.Hour)
		save(t, r, v)
		if want := map[string]int{live.ID: i + 1}; !cmp.Equal(v.Sightings, want) {
			t.Errorf("sightings %v, want %v", v.Sightings, want)
		}
	}
	if c, err := r.Count(ctx); err != nil || c.Findings != 2 || c.Sightings != 4 {
		t.Errorf("%+v, %v", c, err)
	}
	k, err := r.stored(ctx, below.Fingerprint)
	if err != nil || k.Seen != 0 || k.LastReview != "r2" || !k.Last.Equal(start.Add(2*time.Hour)) {
		t.Errorf("%+v, %v", k, err)
	}
	// A third review that hides it does not show it again.
	hidden := live
	hidden.Drop("suppress", precedent.Dismissed, "", "dismissed")
	save(t, r, review(remote, "r3", 2, hidden))
	if k, err := r.stored(ctx, live.Fingerprint); err != nil || k.Seen != 2 || k.LastReview != "r3" {
		t.Errorf("%+v, %v", k, err)
	}
}

func testRulesAreKeptOnce(t *testing.T, open opener) {
	db := open(t)
	r := repoFor(t, db, remote)
	rule := precedent.Rule{ID: "1", Text: "a", Source: "CLAUDE.md", Line: 3}
	moved := rule
	moved.Line = 4
	for i, rules := range [][]precedent.Rule{{rule, moved}, {moved}, {moved, rule, rule}} {
		v := review(remote, string(rune('a'+i)), i)
		v.RulesChecked = rules
		save(t, r, v)
		got, err := r.Review(t.Context(), v.ID)
		if err != nil || !cmp.Equal(got.RulesChecked, rules) {
			t.Errorf("%v, %v, want %v", got.RulesChecked, err, rules)
		}
	}
	if c, err := r.Count(t.Context()); err != nil || c.Rules != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}
