package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func dismissalOf(f precedent.Finding) precedent.Dismissal {
	return precedent.Dismissal{
		Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity, Reason: "intended here", Who: "dana", At: start,
	}
}

// dismiss saves a dismissal that is new.
func dismiss(t *testing.T, r *Repo, j precedent.Dismissal) precedent.Dismissal {
	t.Helper()
	saved, added, err := r.Reject(t.Context(), j)
	if err != nil || !added {
		t.Fatal(added, err)
	}
	return saved
}

func testReject(t *testing.T, r *Repo) {
	ctx := t.Context()
	f := bug("x")
	save(t, r, review(remote, "r1", 1, f))
	first := dismiss(t, r, dismissalOf(f))
	want := dismissalOf(f)
	want.ID, want.ExpiresAt = first.ID, start.Add(180*24*time.Hour)
	if diff := cmp.Diff(want, first); diff != "" || first.ID == "" {
		t.Error(diff)
	}
	other := dismissalOf(f)
	other.Who, other.At = "kim", start.Add(time.Hour)
	if got, added, err := r.Reject(ctx, other); err != nil || added || !cmp.Equal(got, first) {
		t.Errorf("second dismissal: %+v, %v, %v", got, added, err)
	}
	needs.Result(t, "Dismissals", []precedent.Dismissal{first})(r.Dismissals(ctx, start, 10))
	// Once it has expired it is no longer there, and the next one takes its place.
	late := first.ExpiresAt
	needs.Len(t, "Dismissals", 0)(r.Dismissals(ctx, late, 10))
	other.At = late
	got := dismiss(t, r, other)
	if got.Who != "kim" || got.ID == first.ID || got.Hits != 0 {
		t.Errorf("after expiry: %+v", got)
	}
	needs.Result(t, "Unreject", true)(r.Unreject(ctx, got.ID))
	needs.Result(t, "Unreject", false)(r.Unreject(ctx, got.ID))
	needs.Result[*precedent.Dismissal](t, "withdrawn", nil)(r.Dismissal(ctx, f.Fingerprint, late))
}

// testHits saves reviews in which a dismissal hid a finding.
func testHits(t *testing.T, r *Repo) {
	f := bug("x")
	alike := finding(remote, "a.go", "y", precedent.Bugs, precedent.Low)
	j := dismiss(t, r, dismissalOf(f))
	f.Drop("suppress", precedent.Dismissed, j.ID, "dana dismissed it")
	double := f
	alike.Drop("suppress", precedent.Rejected, j.ID, "like two that dana dismissed")
	alike.Basis = &precedent.FindingBasis{Patterns: []string{j.ID, dismiss(t, r, dismissalOf(bug("w"))).ID}}
	below := finding(remote, "a.go", "z", precedent.Bugs, precedent.Low)
	below.Drop("select", precedent.BelowThreshold, j.ID, "below 75")
	for i := range 2 {
		v := review(remote, string(rune('a'+i)), 1, f, double, alike, below)
		v.At = start.AddDate(0, 0, 100*(i+1))
		save(t, r, v)
		save(t, r, v) // again, as after a lost answer
		got := needs.Value(r.Dismissal(t.Context(), f.Fingerprint, start))(t)
		if got.Hits != 2*(i+1) || !got.ExpiresAt.Equal(v.At.Add(DismissalLife)) {
			t.Errorf("after review %d: %d hits, expires %v", i, got.Hits, got.ExpiresAt)
		}
	}
	needs.Equal(t, 2, needs.Value(r.Dismissal(t.Context(), bug("w").Fingerprint, start))(t).Hits)
	// An older review that is saved late does not shorten it.
	v := review(remote, "c", 1, f)
	save(t, r, v)
	got := needs.Value(r.Dismissal(t.Context(), f.Fingerprint, start))(t)
	if got.Hits != 5 || !got.ExpiresAt.Equal(start.AddDate(0, 0, 200).Add(DismissalLife)) {
		t.Errorf("%+v", got)
	}
	// It follows its finding, and back when a change that moved the file is not merged.
	moved := f
	moved.Path, moved.Place = "b.go", "elsewhere"
	for id, f := range []precedent.Finding{moved, f} {
		save(t, r, review(remote, fmt.Sprint("moved", id), 1, f))
		if got := needs.Value(r.Dismissal(t.Context(), f.Fingerprint, start))(t); got.Path != f.Path || got.Place != f.Place {
			t.Errorf("at %s %s", got.Path, got.Place)
		}
	}
}

// testMergedDismissalIsNew: a newer dismissal that a clone brings is not ended like the one that
// it replaces.
func testMergedDismissalIsNew(t *testing.T, r *Repo) {
	ctx := t.Context()
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.Low)
	save(t, r, review(remote, "r1", 1, f))
	old := dismiss(t, r, dismissalOf(f))
	ended := start.Add(time.Hour)
	needs.Value(r.Retire(ctx, old.ID, "fixed after all", ended))(t)
	newer := dismissalOf(f)
	newer.At, newer.ExpiresAt = ended.Add(time.Hour), ended.Add(DismissalLife)
	needs.NoError(t, r.MergeShared(ctx, func(Shared) (Shared, error) {
		return Shared{Dismissals: []precedent.Dismissal{newer}}, nil
	}))
	needs.Result(t, "Retired", "")(r.Retired(ctx, f.Fingerprint))
	if got := needs.Value(r.Dismissal(t.Context(), f.Fingerprint, start))(t); !got.At.Equal(newer.At) {
		t.Errorf("%+v", got)
	}
}
