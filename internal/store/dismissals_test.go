package store

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

func dismissalOf(f precedent.Finding) precedent.Dismissal {
	return precedent.Dismissal{
		Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity, Reason: "intended here", Who: "dana", At: start,
	}
}

func mustDismissal(t *testing.T, r *Repo, f precedent.Finding) precedent.Dismissal {
	t.Helper()
	j, err := r.Dismissal(t.Context(), f.Fingerprint, start)
	if err != nil || j == nil {
		t.Fatal(j, err)
	}
	return *j
}

func testReject(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	save(t, r, review(remote, "r1", 1, f))
	first, added, err := r.Reject(ctx, dismissalOf(f))
	if err != nil || !added {
		t.Fatal(added, err)
	}
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
	if got, err := r.Dismissals(ctx, start, 10); err != nil || !cmp.Equal(got, []precedent.Dismissal{first}) {
		t.Errorf("%v, %v", got, err)
	}
	// Once it has expired it is no longer there, and the next one takes its place.
	late := first.ExpiresAt
	if got, err := r.Dismissals(ctx, late, 10); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	other.At = late
	got, added, err := r.Reject(ctx, other)
	if err != nil || !added || got.Who != "kim" || got.ID == first.ID || got.Hits != 0 {
		t.Errorf("after expiry: %+v, %v, %v", got, added, err)
	}
	if gone, err := r.Unreject(ctx, got.ID); err != nil || !gone {
		t.Error(gone, err)
	}
	if gone, err := r.Unreject(ctx, got.ID); err != nil || gone {
		t.Error(gone, err)
	}
	if j, err := r.Dismissal(ctx, f.Fingerprint, late); err != nil || j != nil {
		t.Error(j, err)
	}
}

// testHits saves reviews in which a dismissal hid a finding.
func testHits(t *testing.T, open opener) {
	ctx := t.Context()
	db := open(t)
	r := repoFor(t, db, remote)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	alike := finding(remote, "a.go", "y", precedent.Bugs, precedent.Low)
	j, _, err := r.Reject(ctx, dismissalOf(f))
	if err != nil {
		t.Fatal(err)
	}
	f.Drop("suppress", precedent.Dismissed, j.ID, "dana dismissed it")
	double := f
	alike.Drop("suppress", precedent.Rejected, j.ID, "like one that dana dismissed")
	below := finding(remote, "a.go", "z", precedent.Bugs, precedent.Low)
	below.Drop("select", precedent.BelowThreshold, j.ID, "below 75")
	for i := range 2 {
		v := review(remote, string(rune('a'+i)), 1, f, double, alike, below)
		v.At = start.AddDate(0, 0, 100*(i+1))
		save(t, r, v)
		save(t, r, v) // again, as after a lost answer
		got := mustDismissal(t, r, f)
		if got.Hits != 2*(i+1) || !got.ExpiresAt.Equal(v.At.Add(DismissalLife)) {
			t.Errorf("after review %d: %d hits, expires %v", i, got.Hits, got.ExpiresAt)
		}
	}
	// An older review that is saved late does not shorten it.
	v := review(remote, "c", 1, f)
	save(t, r, v)
	if got := mustDismissal(t, r, f); got.Hits != 5 || !got.ExpiresAt.Equal(start.AddDate(0, 0, 200).Add(DismissalLife)) {
		t.Errorf("%+v", got)
	}
}

// testRejectTogether has several people dismiss one finding at the same moment.
func testRejectTogether(t *testing.T, open opener) {
	db := open(t)
	r := repoFor(t, db, remote)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.High)
	var wait sync.WaitGroup
	var mu sync.Mutex
	ids, adds := map[string]bool{}, 0
	for range 8 {
		wait.Go(func() {
			j, added, err := r.Reject(t.Context(), dismissalOf(f))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids[j.ID] = true
			adds += zeroOne(added)
		})
	}
	wait.Wait()
	if len(ids) != 1 || adds != 1 {
		t.Errorf("%d dismissals, %d of them new, want 1 of each", len(ids), adds)
	}
}

// testMergedDismissalIsNew: a newer dismissal that a clone brings is not ended like the one that
// it replaces.
func testMergedDismissalIsNew(t *testing.T, open opener) {
	ctx := t.Context()
	r := repoFor(t, open(t), remote)
	f := finding(remote, "a.go", "x", precedent.Bugs, precedent.Low)
	save(t, r, review(remote, "r1", 1, f))
	old, _, err := r.Reject(ctx, dismissalOf(f))
	if err != nil {
		t.Fatal(err)
	}
	ended := start.Add(time.Hour)
	if _, err := r.Retire(ctx, old.ID, "fixed after all", ended); err != nil {
		t.Fatal(err)
	}
	newer := dismissalOf(f)
	newer.At, newer.ExpiresAt = ended.Add(time.Hour), ended.Add(DismissalLife)
	if err := r.MergeShared(ctx, func(Shared) (Shared, error) {
		return Shared{Dismissals: []precedent.Dismissal{newer}},
			nil
	}); err != nil {
		t.Fatal(err)
	}
	if why, err := r.Retired(ctx, f.Fingerprint); err != nil || why != "" {
		t.Errorf("%q, %v", why, err)
	}
	if got := mustDismissal(t, r, f); !got.At.Equal(newer.At) {
		t.Errorf("%+v", got)
	}
}
