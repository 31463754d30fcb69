package store

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func testReviewComesBackWhole(t *testing.T, r *Repo) {
	ctx := t.Context()
	number := 7
	want := randomReview(rand.New(rand.NewPCG(1, 2)), remote, "r1")
	analyzer := finding(remote, "b.go", "y", precedent.Secrets, precedent.Critical)
	analyzer.Analyzer = true
	analyzer.Trail = append(analyzer.Trail, precedent.Decision{
		Step: "suppress", Text: "lowered", Delta: -15, By: "rejection",
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
	got := needs.Value(r.Review(ctx, "r1"))(t)
	needs.Equal(t, want, got, reviewEqual)
	if _, err := r.stored(ctx, ""); err == nil {
		t.Error("a finding without a fingerprint was saved apart from its review")
	}
}

// testSightings reviews one change twice: one finding, seen twice.
func testSightings(t *testing.T, r *Repo) {
	ctx := t.Context()
	live := bug("x")
	double := live
	double.Drop("merge", precedent.Duplicate, live.ID, "says the same")
	below := finding(remote, "a.go", "y", precedent.Style, precedent.Nit)
	below.Drop("select", precedent.BelowThreshold, "", "below 75")
	for i, id := range []string{"r1", "r2"} {
		v := review(remote, id, 1, double, live, below)
		v.At = v.At.Add(time.Duration(i) * time.Hour)
		for range 2 { // as after a commit whose answer was lost
			save(t, r, v)
			needs.Equal(t, map[string]int{live.ID: i + 1}, v.Sightings)
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

func titles(known []Known) []string {
	var titles []string
	for _, k := range known {
		titles = append(titles, k.Title)
	}
	return titles
}

func testShown(t *testing.T, r *Repo) {
	a := finding(remote, "a.go", "a", precedent.Bugs, precedent.Medium)
	b := finding(remote, "a.go", "b", precedent.Security, precedent.High)
	c := finding(remote, "c.go", "c", precedent.Style, precedent.Nit)
	hidden := bug("hidden")
	hidden.Drop("verify", precedent.Refuted, "", "the guard is above")
	save(t, r, review(remote, "r1", 1, a, c, hidden))
	save(t, r, review(remote, "r2", 2, c))
	worse := a
	worse.Severity, worse.Title = precedent.Critical, "Worse"
	save(t, r, review(remote, "r3", 3, worse))
	save(t, r, review(remote, "r4", 4, b))

	this := func(n int) Change { v := review(remote, "", n); return Change{v.Base, v.Head} }
	files := []string{"a.go", "c.go", "none.go"}
	for _, test := range []struct {
		name   string
		paths  []string
		except Change
		want   []string
	}{
		{"another change", files, this(5), []string{"Title of b", "Worse", "Title of c"}},
		{"the third again", files, this(3), []string{"Title of b", "Title of c", "Title of a"}},
		{"the fourth again", files, this(4), []string{"Worse", "Title of c"}},
		{"one file", []string{"c.go"}, this(5), []string{"Title of c"}},
		{"no file", []string{}, this(5), nil},
	} {
		got := needs.Value(r.Shown(t.Context(), test.paths, test.except))(t)
		if diff := cmp.Diff(test.want, titles(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
		for _, k := range got {
			if k.Title == "Title of c" && (k.Seen != 2 || k.ID != c.ID || !k.First.Equal(start.Add(time.Hour)) ||
				!k.Last.Equal(start.Add(2*time.Hour))) {
				t.Errorf("%s: %+v", test.name, k)
			}
			if k.Title == "Title of a" && (k.Seen != 1 || k.Severity != precedent.Medium) {
				t.Errorf("%s: %+v", test.name, k)
			}
		}
	}
}

// testManyFiles asks for more files than one statement takes as parameters.
func testManyFiles(t *testing.T, r *Repo) {
	ctx := t.Context()
	v := review(remote, "r1", 1)
	var paths []string
	for i := range 1300 {
		path := fmt.Sprintf("f%d.go", i)
		paths = append(paths, path)
		if i%100 == 0 {
			v.Findings = append(v.Findings, finding(remote, path, "x", precedent.Bugs, precedent.High))
		}
	}
	for i := range 60 {
		v.Findings = append(v.Findings, finding(remote, "f1.go", fmt.Sprint(i), precedent.Bugs, precedent.High))
	}
	save(t, r, v)
	needs.Len(t, "Shown", 73)(r.Shown(ctx, paths, Change{}))
	needs.Len(t, "Known", 13+knownPerFile)(r.Known(ctx, paths, 1000))
	needs.Len(t, "Known", 3)(r.Known(ctx, paths, 3))
}
