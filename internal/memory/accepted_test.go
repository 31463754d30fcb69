package memory

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestAcceptedHalves: one acceptance of a similar finding halves a dismissal, if it is newer.
func TestAcceptedHalves(t *testing.T) {
	at := func(line, title string) precedent.Finding {
		return in(find("io/a.go", line, precedent.Bugs, precedent.Medium, title), "Load")
	}
	f := at("defer h.Close()", "Error of the deferred Close call is ignored")
	one := dismiss(at("defer g.Close()", f.Title), "j1", "intended here", 2)
	two := dismiss(at("defer k.Close()", f.Title), "j2", "intended here", 2)
	always := dismiss(at("defer g.Close()", f.Title), "j3", "never flag this", 2)
	accept := func(title string, days int) store.Known {
		return store.Known{Finding: at("defer z.Close()", title), Last: start.AddDate(0, 0, days)}
	}
	for _, test := range []struct {
		name       string
		dismissals []precedent.Dismissal
		accepted   []store.Known
		dropped    bool
	}{
		{"two", []precedent.Dismissal{one, two}, nil, true},
		{"two, one accepted since", []precedent.Dismissal{one, two}, []store.Known{accept(f.Title, 5)}, false},
		{"two, one accepted before", []precedent.Dismissal{one, two}, []store.Known{accept(f.Title, 1)}, true},
		{"two, another claim accepted", []precedent.Dismissal{one, two}, []store.Known{accept("Division by zero for an empty list", 5)}, true},
		{"never", []precedent.Dismissal{always}, nil, true},
		{"never, one accepted since", []precedent.Dismissal{always}, []store.Known{accept(f.Title, 5)}, false},
		{"never and one, one accepted since", []precedent.Dismissal{always, one}, []store.Known{accept(f.Title, 5)}, false},
	} {
		weaken(test.dismissals, test.accepted)
		got := Suppress([]precedent.Finding{f}, test.dismissals, start.AddDate(0, 0, 30), 75, nil)[0]
		if dropped := got.Dropped == precedent.Rejected; dropped != test.dropped {
			t.Errorf("%s: dropped %q, trail %v", test.name, got.Dropped, got.Trail)
		}
		for i := range test.dismissals {
			test.dismissals[i].Accepted = 0
		}
	}
}

// TestRecallCountsAcceptances: outcomes of findings reach the dismissals of a review.
func TestRecallCountsAcceptances(t *testing.T) {
	ctx := t.Context()
	now := start
	m := remember(t, &now)
	no, yes := in(find("io/a.go", "defer g.Close()", precedent.Bugs, precedent.Medium, "Error of Close is ignored"), "Load"), in(find("io/a.go", "defer k.Close()", precedent.Bugs, precedent.Medium, "Error of Close is ignored"), "Load")
	record(t, m, "r1", "one", no, yes)
	if _, err := m.Dismiss(ctx, no.ID, Dismissal{Reason: "intended here", Who: "dana"}); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 2)
	fixed := became(posted(yes, "t1"), precedent.Fixed, "", "", false)
	fixed.At = now
	if _, err := m.Learn(ctx, 7, []precedent.Thread{posted(yes, "t1")}, []precedent.Outcome{fixed}); err != nil {
		t.Fatal(err)
	}
	if r := recall(t, m, "next", "io/a.go"); len(r.Dismissals) != 1 || r.Dismissals[0].Accepted != 1 {
		t.Errorf("%+v", r.Dismissals)
	}
	// Retired, it no longer holds, and why is kept; a new dismissal holds again.
	rows, err := m.rows(ctx)
	if err != nil {
		t.Fatal(err)
	}
	j := recall(t, m, "next", "io/a.go").Dismissals[0]
	if ended, err := rows.Retire(ctx, j.ID, "#8 fixed it", now); err != nil || !ended {
		t.Fatal(ended, err)
	}
	if ended, err := rows.Retire(ctx, j.ID, "again", now); err != nil || ended {
		t.Error("retired twice", err)
	}
	if why, err := rows.Retired(ctx, no.Fingerprint); err != nil || why != "#8 fixed it" || len(recall(t, m, "next", "io/a.go").Dismissals) != 0 {
		t.Errorf("%q %v", why, err)
	}
	if _, err := m.Dismiss(ctx, no.ID, Dismissal{Reason: "still", Who: "dana"}); err != nil {
		t.Error(err)
	}
	if why, err := rows.Retired(ctx, no.Fingerprint); err != nil || why != "" || len(recall(t, m, "next", "io/a.go").Dismissals) != 1 {
		t.Errorf("%q %v", why, err)
	}
}
