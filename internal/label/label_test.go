package label_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
)

var names = label.DefaultNames()

func TestNames(t *testing.T) {
	needs.NoError(t, names.Validate())
	if got := (label.Names{CIPending: "ci"}).WithDefaults(names); got.CIPending != "ci" ||
		got.ReviewNeeded != names.ReviewNeeded {
		t.Errorf("WithDefaults = %+v", got)
	}
	for _, wrong := range []string{
		"", " x", "x ", "a,b", "a\nb", "a\x00b", "a\u200eb", "\xff", strings.Repeat("ü", 51),
		names.CIPending, strings.ToUpper(names.CIPending),
	} {
		n := names
		if n.ReviewNeeded = wrong; n.Validate() == nil {
			t.Errorf("the label %q is taken", wrong)
		}
	}
	n := names
	if n.ReviewNeeded = strings.Repeat("ü", 50); n.Validate() != nil {
		t.Error(n.Validate())
	}
}

// TestOf finds every subset of the labels at once, in every case of writing, among others.
func TestOf(t *testing.T) {
	for set := range 1 << len(label.States) {
		labels := []string{"bug"}
		var found []label.State
		for i, s := range label.States {
			if set&(1<<i) != 0 {
				found, labels = append(found, s), append(labels, strings.ToUpper(names.Of(s)))
			}
		}
		want := label.ReviewNeeded
		switch {
		case len(found) == 0:
			want = label.None
		case len(found) == 1:
			want = found[0]
		case slices.Contains(found, label.Intervention):
			want = label.Intervention
		case len(found) == 2 && slices.Contains(found, label.Changes) && slices.Contains(found, label.CIPending):
			want = label.CIPending
		}
		slices.Reverse(labels)
		if got := label.Of(labels, names); got != want {
			t.Errorf("%q: %q, want %q", labels, got, want)
		}
		if got := label.Found(labels, names); !slices.Equal(got, found) {
			t.Errorf("%q: found %q", labels, got)
		}
	}
}

// TestSwap interrupts every change of labels after every step: one label of the cycle is always
// left, and repeating the change ends with the right one alone.
func TestSwap(t *testing.T) {
	for set := range 1 << len(label.States) {
		for _, to := range label.States {
			var start []string
			for i, s := range label.States {
				if set&(1<<i) != 0 {
					start = append(start, names.Of(s))
				}
			}
			start = append(start, "bug")
			add, remove := label.Swap(start, names, to)
			steps := len(remove)
			if add != "" {
				steps++
			}
			for done := range steps + 1 {
				labels := apply(start, add, remove, done)
				if set != 0 || done > 0 {
					if label.Of(labels, names) == label.None {
						t.Fatalf("%q to %s after %d steps: no label is left", start, to, done)
					}
				}
				add, remove := label.Swap(labels, names, to)
				if got := apply(labels, add, remove, 1<<10); label.Of(got, names) != to || len(label.Found(got, names)) != 1 ||
					!slices.Contains(got, "bug") {
					t.Fatalf("%q to %s, interrupted after %d steps: %q", start, to, done, got)
				}
			}
		}
	}
}

// apply does the first steps of a change.
func apply(labels []string, add string, remove []string, steps int) []string {
	labels = slices.Clone(labels)
	if add != "" {
		if steps == 0 {
			return labels
		}
		labels, steps = append(labels, add), steps-1
	}
	for _, r := range remove[:min(len(remove), steps)] {
		labels = slices.DeleteFunc(labels, func(l string) bool { return l == r })
	}
	return labels
}

// TestNext has each row of the table of the cycle, and every event in every state.
func TestNext(t *testing.T) {
	type row struct {
		s  label.State
		e  label.Event
		to label.State
	}
	rows := []row{
		{label.ReviewNeeded, label.Event{Kind: label.GateFailed}, label.Changes},
		{label.ReviewNeeded, label.Event{Kind: label.Findings}, label.Changes},
		{label.ReviewNeeded, label.Event{Kind: label.Clean}, label.HumanReview},
		{label.ReviewNeeded, label.Event{Kind: label.Incomplete, Times: 2}, label.ReviewNeeded},
		{label.ReviewNeeded, label.Event{Kind: label.Incomplete, Times: 3}, label.Intervention},
		{label.Changes, label.Event{Kind: label.FixDue, Cycles: 5}, label.Changes},
		{label.Changes, label.Event{Kind: label.FixDue, Cycles: 6}, label.Intervention},
		{label.Changes, label.Event{Kind: label.FixDue, Cycles: 8, MaxCycles: 8}, label.Changes},
		{label.Changes, label.Event{Kind: label.FixPushed}, label.CIPending},
		{label.Changes, label.Event{Kind: label.NothingOpen}, label.CIPending},
		{label.Changes, label.Event{Kind: label.FixFailed, Times: 1}, label.Changes},
		{label.Changes, label.Event{Kind: label.FixFailed, Times: 2}, label.Intervention},
		{label.CIPending, label.Event{Kind: label.ChecksPassed}, label.ReviewNeeded},
		{label.CIPending, label.Event{Kind: label.ChecksFailed}, label.Changes},
		{label.CIPending, label.Event{Kind: label.ChecksWait}, label.CIPending},
	}
	for _, r := range rows {
		if to := label.Next(r.s, r.e); to != r.to {
			t.Errorf("%s, %+v: %s, want %s", r.s, r.e, to, r.to)
		}
	}
	kinds := needs.Each(rows, func(r row) label.EventKind { return r.e.Kind })
	for _, s := range append([]label.State{label.None, "unknown"}, label.States...) {
		for _, kind := range append(kinds, "", "unknown") {
			if slices.ContainsFunc(rows, func(r row) bool { return r.s == s && r.e.Kind == kind }) {
				continue
			}
			if to := label.Next(s, label.Event{Kind: kind, Times: 9, Cycles: 9}); to != s {
				t.Errorf("%s, %s: %s, want no change", s, kind, to)
			}
		}
	}
}
