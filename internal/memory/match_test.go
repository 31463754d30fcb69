package memory

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

func known(findings ...precedent.Finding) Recall {
	r := Recall{Known: map[string]store.Known{}}
	for _, f := range findings {
		r.Known[f.Fingerprint] = store.Known{Finding: f}
	}
	return r
}

func TestMatch(t *testing.T) {
	const title = "Error of the deferred Close call is ignored"
	earlier := find("a.go", "\tdefer f.Close()\n\tmore", precedent.Bugs, precedent.Medium, title)
	moved := earlier
	moved.Quote, moved.Severity = "    defer  f.Close()", precedent.Low
	stand(&moved, "another", "neighbour")
	nowhere, invented := earlier, moved // models quote what is not in the change
	nowhere.Place, invented.Place = "", ""
	with := func(f precedent.Finding, change func(*precedent.Finding)) precedent.Finding {
		change(&f)
		stand(&f, "another", "neighbour")
		return f
	}
	for _, test := range []struct {
		name   string
		f      precedent.Finding
		former map[string]string
		want   bool
	}{
		{"moved", moved, nil, true},
		{"other words", with(moved, func(f *precedent.Finding) { f.Title = "Ignored error of the deferred Close call" }), nil, true},
		{"another remark", with(moved, func(f *precedent.Finding) { f.Title, f.Body = "Handle leaks", "Nobody frees it" }), nil, false},
		{"another line", with(moved, func(f *precedent.Finding) { f.Quote = "defer g.Close()" }), nil, false},
		{"another category", with(moved, func(f *precedent.Finding) { f.Category = precedent.Style }), nil, false},
		{"another file", with(moved, func(f *precedent.Finding) { f.Path = "b.go" }), nil, false},
		{"renamed file", with(moved, func(f *precedent.Finding) { f.Path = "b.go" }), map[string]string{"b.go": "a.go"}, true},
		{"another file renamed", with(moved, func(f *precedent.Finding) { f.Path = "b.go" }), map[string]string{"c.go": "a.go"}, false},
		{"no quote", with(moved, func(f *precedent.Finding) { f.Quote = "" }), nil, false},
		{"nowhere", invented, nil, false},
	} {
		r := known(earlier)
		r.Former = test.former
		got := r.Match([]precedent.Finding{test.f})[0]
		if matched := got.Fingerprint == earlier.Fingerprint && got.ID == earlier.ID; matched != test.want {
			t.Errorf("%s: matched %v, want %v", test.name, matched, test.want)
		} else if matched && (len(got.Trail) != 1 || got.Trail[0].By != earlier.ID || got.Severity != test.f.Severity) {
			t.Errorf("%s: %+v", test.name, got)
		} else if !matched && !cmp.Equal(test.f, got) {
			t.Errorf("%s: changed", test.name)
		}
	}
	if got := known(nowhere).Match([]precedent.Finding{moved})[0]; got.ID != moved.ID {
		t.Errorf("it has the id of one that was nowhere: %+v", got)
	}
	// An earlier one that is found again exactly is not given away, nor one that is still where it was.
	stays := known(earlier)
	stays.Stands = func(k, _ *precedent.Finding) bool { return k.Fingerprint == earlier.Fingerprint }
	needs.Equal(t, []precedent.Finding{moved}, stays.Match([]precedent.Finding{moved}))
	if got := known(earlier).Match([]precedent.Finding{moved, earlier}); !cmp.Equal(got, []precedent.Finding{moved, earlier}) {
		t.Errorf("%+v", got)
	}
}

// TestMatchMovesDuplicates keeps a duplicate pointing at the finding that it repeats.
func TestMatchMovesDuplicates(t *testing.T) {
	earlier := find("a.go", "x := 1", precedent.Bugs, precedent.Medium, "x is wrong")
	moved := earlier
	stand(&moved, "another", "neighbour")
	same, other := moved, find("a.go", "y", precedent.Style, precedent.Nit, "also x")
	same.Drop("merge", precedent.Duplicate, moved.ID, "says the same")
	other.Drop("merge", precedent.Duplicate, moved.ID, "says the same")
	got := known(earlier).Match([]precedent.Finding{other, moved, same})
	for _, f := range []precedent.Finding{got[0], got[2]} {
		if f.DroppedBy != earlier.ID {
			t.Errorf("dropped by %s, want %s", f.DroppedBy, earlier.ID)
		}
	}
	if got[0].ID != other.ID || got[1].ID != earlier.ID || got[2].ID != earlier.ID {
		t.Errorf("%s %s %s", got[0].ID, got[1].ID, got[2].ID)
	}
}
