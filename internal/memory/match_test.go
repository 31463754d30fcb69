package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
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
		{"nowhere", with(moved, func(*precedent.Finding) {}), nil, true},
	} {
		r := known(earlier)
		r.Former = test.former
		if test.name == "nowhere" {
			test.f.ID, test.f.Fingerprint, test.want = "", "", false
		}
		got := r.Match([]precedent.Finding{test.f})[0]
		if matched := got.Fingerprint == earlier.Fingerprint && got.ID == earlier.ID; matched != test.want {
			t.Errorf("%s: matched %v, want %v", test.name, matched, test.want)
		} else if matched && (len(got.Trail) != 1 || got.Trail[0].By != earlier.ID || got.Severity != test.f.Severity) {
			t.Errorf("%s: %+v", test.name, got)
		} else if !matched && !cmp.Equal(test.f, got) {
			t.Errorf("%s: changed", test.name)
		}
	}
	// An earlier one that is found again exactly is not given away.
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

// TestMatchSharesNothing matches one finding in two ways.
func TestMatchSharesNothing(t *testing.T) {
	one := find("a.go", "x := 1", precedent.Bugs, precedent.Medium, "x is wrong")
	two := one
	stand(&two, "one", "more")
	f := one
	stand(&f, "another", "neighbour")
	f.Trail = make([]precedent.Decision, 0, 8)
	a := known(one).Match([]precedent.Finding{f})
	b := known(two).Match([]precedent.Finding{f})
	if a[0].Trail[0].By != one.ID || b[0].Trail[0].By != two.ID {
		t.Errorf("%v, %v", a[0].Trail, b[0].Trail)
	}
}

// TestMatchHolds draws many findings on few lines.
func TestMatchHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) []precedent.Finding {
			var findings []precedent.Finding
			for i := range rapid.IntRange(0, 8).Draw(t, what) {
				f := anyFinding(t, fmt.Sprint(what, " ", i))
				// Few choices, so that much is alike.
				f.Path, f.Category = rapid.SampledFrom([]string{"a.go", "b.go"}).Draw(t, "path"), precedent.Bugs
				stand(&f, fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "before")), "after")
				findings = append(findings, f)
			}
			return findings
		}
		r := known(draw("earlier")...)
		findings := draw("new")
		got := r.Match(findings)
		took := map[string]string{}
		for i, f := range got {
			was := findings[i]
			if f.Fingerprint == was.Fingerprint {
				continue
			}
			if _, exact := r.Known[was.Fingerprint]; exact {
				t.Fatalf("%s was known exactly and took another identity", was.ID)
			}
			k, ok := r.Known[f.Fingerprint]
			switch {
			case !ok || f.ID != k.ID:
				t.Fatalf("%s took an identity that nobody had", was.ID)
			case k.Path != was.Path || k.Category != was.Category || match.Flagged(k.Quote) != match.Flagged(was.Quote):
				t.Fatalf("%+v was taken for %+v", was, k)
			case took[f.Fingerprint] != "" && took[f.Fingerprint] != was.Fingerprint:
				t.Fatalf("%s was taken twice", k.ID)
			case slices.ContainsFunc(findings, func(o precedent.Finding) bool { return o.Fingerprint == k.Fingerprint }):
				t.Fatalf("%s was found again exactly and given away", k.ID)
			}
			took[f.Fingerprint] = was.Fingerprint
		}
		// What was matched is exact from then on.
		if again := r.Match(got); !cmp.Equal(got, again) {
			t.Fatalf("a second time: %s", cmp.Diff(got, again))
		}
		order := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0)).Perm(len(findings))
		var mixed []precedent.Finding
		for _, i := range order {
			mixed = append(mixed, findings[i])
		}
		for n, f := range r.Match(mixed) {
			if f.ID != got[order[n]].ID {
				t.Fatalf("in another order %s became %s", got[order[n]].ID, f.ID)
			}
		}
	})
}
