package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/precedent-dev/precedent"
)

// dismiss makes a dismissal of a finding, some days after start.
func dismiss(f precedent.Finding, id, reason string, days int) precedent.Dismissal {
	return precedent.Dismissal{
		ID: id, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Claim: f.Title, Path: f.Path, Symbol: f.Symbol,
		Category: f.Category, Severity: f.Severity, Reason: reason, Who: "dana",
		At: start.AddDate(0, 0, days), ExpiresAt: start.AddDate(0, 0, days+180),
	}
}

func in(f precedent.Finding, symbol string) precedent.Finding {
	f.Symbol = symbol
	return f
}

func TestSuppress(t *testing.T) {
	const title = "Error of the deferred Close call is ignored"
	now := start.AddDate(0, 0, 30)
	at := func(path, line string) precedent.Finding {
		return in(find(path, line, precedent.Bugs, precedent.Medium, title), "Load")
	}
	f := at("io/a.go", "defer f.Close()")
	first := dismiss(at("io/a.go", "defer g.Close()"), "first", "intended here", 1)
	second := dismiss(at("io/a.go", "defer h.Close()"), "second", "", 2)
	with := func(f precedent.Finding, change func(*precedent.Finding)) precedent.Finding {
		change(&f)
		return f
	}
	alter := func(j precedent.Dismissal, change func(*precedent.Dismissal)) precedent.Dismissal {
		change(&j)
		return j
	}
	for _, test := range []struct {
		name       string
		finding    precedent.Finding
		dismissals []precedent.Dismissal
		dropped    precedent.Dropped
		by         string // of the last decision; empty if none is to be made
		confidence int
	}{
		{"nothing remembered", f, nil, "", "", 90},
		{"dismissed by name", f, []precedent.Dismissal{first, dismiss(f, "this", "no", 3)}, precedent.Dismissed, "this", 90},
		{
			"dismissed by name, critical and protected",
			with(f, func(f *precedent.Finding) { f.Severity, f.Category = precedent.Critical, precedent.Secrets }),
			[]precedent.Dismissal{dismiss(f, "this", "", 3)},
			precedent.Dismissed, "this", 90,
		},
		{"dismissal expired", f, []precedent.Dismissal{alter(dismiss(f, "this", "", 3), func(j *precedent.Dismissal) { j.ExpiresAt = now })}, "", "", 90},
		{"one like it", f, []precedent.Dismissal{first}, "", "first", 75},
		{"two like it", f, []precedent.Dismissal{first, second}, precedent.Rejected, "second", 90},
		{"one like it, never", f, []precedent.Dismissal{alter(first, func(j *precedent.Dismissal) { j.Reason = "never flag this" })}, precedent.Rejected, "first", 90},
		{
			"two like it, an older never", f,
			[]precedent.Dismissal{alter(first, func(j *precedent.Dismissal) { j.Reason = "never in this repo" }), second},
			precedent.Rejected, "first", 90,
		},
		{
			"two like it, one expired", f,
			[]precedent.Dismissal{first, alter(second, func(j *precedent.Dismissal) { j.ExpiresAt = now })},
			"", "first", 75,
		},
		{"two like it, high", with(f, func(f *precedent.Finding) { f.Severity = precedent.High }), []precedent.Dismissal{first, second}, "", "second", 75},
		{"two like it, protected", with(f, func(f *precedent.Finding) { f.Category = precedent.Race }), []precedent.Dismissal{first, second}, "", "second", 75},
		{
			"two like it, high, near the threshold",
			with(f, func(f *precedent.Finding) { f.Severity, f.Confidence = precedent.High, 80 }),
			[]precedent.Dismissal{first, second},
			"", "second", 75,
		},
		{
			"two like it, high, below the threshold",
			with(f, func(f *precedent.Finding) { f.Severity, f.Confidence = precedent.High, 60 }),
			[]precedent.Dismissal{first, second},
			"", "second", 45,
		},
		{"one like it, hardly believed", with(f, func(f *precedent.Finding) { f.Confidence = 10 }), []precedent.Dismissal{first}, "", "first", 0},
		{"one like it, of an analyzer", with(f, func(f *precedent.Finding) { f.Analyzer = true }), []precedent.Dismissal{first}, "", "first", 90},
		{"two milder ones like it", f, []precedent.Dismissal{
			alter(first, func(j *precedent.Dismissal) { j.Severity = precedent.Low }), alter(second, func(j *precedent.Dismissal) { j.Severity = precedent.Nit }),
		}, "", "second", 75},
		{"another symbol", in(f, "Save"), []precedent.Dismissal{first, second}, "", "", 90},
		{"no symbol", in(f, ""), []precedent.Dismissal{
			alter(first, func(j *precedent.Dismissal) { j.Symbol = "" }), alter(second, func(j *precedent.Dismissal) { j.Symbol = "" }),
		}, "", "", 90},
		{
			"another claim about the symbol", with(f, func(f *precedent.Finding) { f.Title = "Path from the request reaches os.Open unchecked" }),
			[]precedent.Dismissal{first, second},
			"", "", 90,
		},
		{"another file, symbol meant", in(at("io/b.go", "x"), "Load"), []precedent.Dismissal{first, second}, "", "", 90},
		{"another file, folder meant", in(at("io/sub/b.go", "x"), "Load"), []precedent.Dismissal{
			alter(first, func(j *precedent.Dismissal) { j.Reason = "we don't do this here" }), second,
		}, "", "first", 75},
		{"another folder, repository meant", in(at("net/b.go", "x"), "Load"), []precedent.Dismissal{
			alter(first, func(j *precedent.Dismissal) { j.Reason = "not in this repo" }),
			alter(second, func(j *precedent.Dismissal) { j.Reason = "not in this repo, please" }),
		}, precedent.Rejected, "second", 90},
		{
			"same place, another category, similar words", with(in(f, ""), func(f *precedent.Finding) { f.Category, f.Title = precedent.Style, "Close error ignored" }),
			[]precedent.Dismissal{alter(first, func(j *precedent.Dismissal) { j.Place = f.Place })},
			"", "first", 75,
		},
		{
			"same place, another category, another claim", with(in(f, ""), func(f *precedent.Finding) { f.Category, f.Title = precedent.Style, "Misspelled word" }),
			[]precedent.Dismissal{alter(first, func(j *precedent.Dismissal) { j.Place = f.Place })},
			"", "", 90,
		},
		{
			"same place and category, another of equal lines", with(in(f, ""), func(f *precedent.Finding) { f.Title = "Whatever" }),
			[]precedent.Dismissal{alter(first, func(j *precedent.Dismissal) { j.Place = f.Place })},
			"", "first", 75,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Suppress([]precedent.Finding{test.finding}, test.dismissals, now, 75, nil)[0]
			if got.Dropped != test.dropped || got.Confidence != test.confidence {
				t.Errorf("dropped %q, confidence %d, want %q, %d: %v", got.Dropped, got.Confidence, test.dropped, test.confidence, got.Trail)
			}
			if test.dropped != "" && got.DroppedBy != test.by {
				t.Errorf("dropped by %q, want %q", got.DroppedBy, test.by)
			}
			by := ""
			if len(got.Trail) > 0 {
				last := got.Trail[len(got.Trail)-1]
				by = last.By
				if last.Step != "suppress" || last.Delta != got.Confidence-test.finding.Confidence || !strings.Contains(last.Text, "dana") {
					t.Errorf("decision %+v", last)
				}
			}
			if by != test.by {
				t.Errorf("decided by %q, want %q: %v", by, test.by, got.Trail)
			}
		})
	}
}

func TestSuppressLeavesDroppedOnesAlone(t *testing.T) {
	f := find("a.go", "x", precedent.Bugs, precedent.Low, "t")
	f.Drop("verify", precedent.Refuted, "", "the guard is above")
	got := Suppress([]precedent.Finding{f}, []precedent.Dismissal{dismiss(f, "this", "", 0)}, start, 75, nil)
	if diff := cmp.Diff([]precedent.Finding{f}, got); diff != "" {
		t.Error(diff)
	}
}

// TestAuditShare suppresses many findings by pattern: about one in twenty is shown
// collapsed, the same ones every time.
func TestAuditShare(t *testing.T) {
	var findings []precedent.Finding
	for i := range 4000 {
		findings = append(findings, in(find("a.go", fmt.Sprint("line ", i), precedent.Bugs, precedent.Low, "Error ignored"), "Load"))
	}
	reject := []precedent.Dismissal{dismiss(in(find("a.go", "old", precedent.Bugs, precedent.Low, "Error ignored"), "Load"), "r", "never", 0)}
	collapsed := map[string]bool{}
	for _, f := range Suppress(findings, reject, start, 75, nil) {
		if f.Dropped != precedent.Rejected {
			t.Fatalf("%+v", f)
		}
		if f.Placement == precedent.Collapsed {
			collapsed[f.Fingerprint] = true
		}
	}
	if n := len(collapsed); n < 140 || n > 260 {
		t.Errorf("%d of 4000 are shown, want about 200", n)
	}
	slices.Reverse(findings)
	for _, f := range Suppress(findings[:500], reject, start.Add(time.Hour), 50, nil) {
		if collapsed[f.Fingerprint] != (f.Placement == precedent.Collapsed) {
			t.Errorf("%s is shown in one run and not in another", f.Fingerprint)
		}
	}
}

// anyFinding draws findings that are likely to be alike.
func anyFinding(t *rapid.T, label string) precedent.Finding {
	f := find(
		rapid.SampledFrom([]string{"a.go", "dir/a.go", "dir/b.go", "dir/sub/c.go"}).Draw(t, label+" path"),
		rapid.SampledFrom([]string{"x := 1", "return err", "}"}).Draw(t, label+" line"),
		rapid.SampledFrom(precedent.Categories).Draw(t, label+" category"),
		rapid.SampledFrom(append(slices.Clone(precedent.Severities), "unheard-of", "")).Draw(t, label+" severity"),
		rapid.SampledFrom([]string{"Error is ignored", "The error is ignored here", "Token compared with ==", ""}).Draw(t, label+" title"))
	f.Symbol = rapid.SampledFrom([]string{"", "Load", "Check"}).Draw(t, label+" symbol")
	f.Confidence = rapid.IntRange(0, 100).Draw(t, label+" confidence")
	f.Analyzer = rapid.Bool().Draw(t, label+" analyzer")
	f.Trail = make([]precedent.Decision, 0, 8) // room that two copies would share
	f.Note("place", "it was placed")
	if rapid.IntRange(0, 5).Draw(t, label+" fate") == 0 {
		f.Drop("merge", precedent.Duplicate, "other", "says the same")
	}
	return f
}

func anyDismissal(t *rapid.T, i int) precedent.Dismissal {
	label := fmt.Sprint("dismissal ", i)
	return dismiss(anyFinding(t, label), fmt.Sprint("id", i),
		rapid.SampledFrom([]string{"", "intended here", "we don't do this here", "never in this repo", "never"}).Draw(t, label+" reason"),
		rapid.IntRange(-200, 0).Draw(t, label+" age"))
}

func TestSuppressHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var findings []precedent.Finding
		for i := range rapid.IntRange(0, 8).Draw(t, "findings") {
			findings = append(findings, anyFinding(t, fmt.Sprint("finding ", i)))
		}
		var dismissals []precedent.Dismissal
		for i := range rapid.IntRange(0, 10).Draw(t, "rejections") {
			dismissals = append(dismissals, anyDismissal(t, i))
		}
		threshold := rapid.IntRange(0, 100).Draw(t, "threshold")
		given, declined := snapshot(findings), slices.Clone(dismissals)
		got := Suppress(findings, dismissals, start, threshold, nil)
		if diff := cmp.Diff(given, findings) + cmp.Diff(declined, dismissals); diff != "" {
			t.Fatalf("what was given changed: %s", diff)
		}
		if len(got) != len(findings) {
			t.Fatalf("%d findings became %d", len(findings), len(got))
		}
		for i := range got {
			checkSuppressed(t, findings[i], got[i], dismissals, threshold)
		}

		// Neither the order nor the company changes what is said of a finding.
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		order := rnd.Perm(len(findings))
		var mixed []precedent.Finding
		for _, i := range order {
			mixed = append(mixed, findings[i])
		}
		shuffled := slices.Clone(dismissals)
		rnd.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for n, f := range Suppress(mixed, shuffled, start, threshold, nil) {
			if diff := cmp.Diff(got[order[n]], f); diff != "" {
				t.Fatalf("in another order: %s", diff)
			}
		}
		// Nor do two answers about one finding share anything.
		first := snapshot(got)
		var all []precedent.Dismissal
		for _, f := range findings {
			all = append(all, dismiss(f, "other", "another reason", 0))
		}
		Suppress(findings, all, start, threshold, nil)
		if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("a later call changed an earlier answer: %s", diff)
		}
		if twice := Suppress(got, nil, start, threshold, nil); !cmp.Equal(got, twice) {
			t.Fatal("without dismissals something changed")
		}
	})
}

func snapshot(findings []precedent.Finding) []precedent.Finding {
	copies := slices.Clone(findings)
	for i := range copies {
		copies[i].Trail = slices.Clone(copies[i].Trail)
	}
	return copies
}

// checkSuppressed checks what holds of every finding, whatever is remembered.
func checkSuppressed(t *rapid.T, before, after precedent.Finding, dismissals []precedent.Dismissal, threshold int) {
	kept := after
	kept.Dropped, kept.DroppedBy, kept.DroppedWhy = before.Dropped, before.DroppedBy, before.DroppedWhy
	kept.Placement, kept.Confidence, kept.Weighed, kept.Trail = before.Placement, before.Confidence, before.Weighed, before.Trail
	if diff := cmp.Diff(before, kept); diff != "" {
		t.Fatalf("more than a note was changed: %s", diff)
	}
	if after.Weighed-before.Weighed != after.Confidence-before.Confidence {
		t.Fatalf("confidence %d to %d, weighed %d to %d", before.Confidence, after.Confidence, before.Weighed, after.Weighed)
	}
	if len(after.Trail) < len(before.Trail) || !cmp.Equal(before.Trail, after.Trail[:len(before.Trail)]) {
		t.Fatalf("the trail lost something: %v, %v", before.Trail, after.Trail)
	}
	if !before.Live() && !cmp.Equal(before, after) {
		t.Fatal("a dropped finding was touched")
	}
	serious := before.Severity.AtLeast(precedent.High) || before.Category.Protected()
	switch {
	case after.Dropped == precedent.Rejected && serious:
		t.Fatalf("a pattern dropped %s %s", before.Severity, before.Category)
	case serious && before.Live() && before.Confidence >= threshold && after.Confidence < threshold:
		t.Fatalf("a pattern hid %s %s: %d became %d", before.Severity, before.Category, before.Confidence, after.Confidence)
	case after.Confidence > before.Confidence || after.Confidence < 0:
		t.Fatalf("confidence %d became %d", before.Confidence, after.Confidence)
	case before.Analyzer && after.Confidence != before.Confidence:
		t.Fatal("an analyzer's confidence changed")
	}
	dismissed := slices.ContainsFunc(dismissals, func(j precedent.Dismissal) bool {
		return j.Fingerprint == before.Fingerprint && start.Before(j.ExpiresAt)
	})
	if before.Live() && dismissed != (after.Dropped == precedent.Dismissed) {
		t.Fatalf("dismissed %v, dropped %q", dismissed, after.Dropped)
	}
	if before.Live() && !after.Live() && !slices.ContainsFunc(dismissals, func(j precedent.Dismissal) bool { return j.ID == after.DroppedBy }) {
		t.Fatalf("dropped by %q, which nobody knows", after.DroppedBy)
	}
}
