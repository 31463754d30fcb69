package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
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
	like := func(path string, category precedent.Category, severity precedent.Severity, confidence int) precedent.Finding {
		like := at(path, "defer f.Close()")
		like.Category, like.Severity, like.Confidence = category, severity, confidence
		return like
	}
	of := func(f precedent.Finding, c precedent.Category, symbol, title string) precedent.Finding {
		f.Category, f.Symbol, f.Title = c, symbol, title
		return f
	}
	analyzer := f
	analyzer.Analyzer = true
	because := func(j precedent.Dismissal, reason string) precedent.Dismissal { j.Reason = reason; return j }
	about := func(j precedent.Dismissal, symbol string, s precedent.Severity) precedent.Dismissal {
		j.Symbol, j.Severity = symbol, s
		return j
	}
	expired := func(j precedent.Dismissal) precedent.Dismissal { j.ExpiresAt = now; return j }
	atRoot, samePlace := first, first
	atRoot.Path = "main.go"
	samePlace.Place = f.Place
	both := []precedent.Dismissal{first, second}
	one := func(j precedent.Dismissal) []precedent.Dismissal { return []precedent.Dismissal{j} }
	const bugs, medium, high = precedent.Bugs, precedent.Medium, precedent.High
	const hidden, byName = precedent.Rejected, precedent.Dismissed
	for _, test := range []struct {
		name       string
		finding    precedent.Finding
		dismissals []precedent.Dismissal
		dropped    precedent.Dropped
		by         string // of the last decision; empty if none is to be made
		confidence int
	}{
		{"nothing remembered", f, nil, "", "", 90},
		{"dismissed by name", f, []precedent.Dismissal{first, dismiss(f, "this", "no", 3)}, byName, "this", 90},
		{
			"dismissed by name, critical and protected", like("io/a.go", precedent.Secrets, precedent.Critical, 90),
			one(dismiss(f, "this", "", 3)), byName, "this", 90,
		},
		{"dismissal expired", f, one(expired(dismiss(f, "this", "", 3))), "", "", 90},
		{"one like it", f, one(first), "", "first", 75},
		{"two like it", f, both, hidden, "second", 90},
		{"one like it, never", f, one(because(first, "never flag this")), hidden, "first", 90},
		{
			"two like it, an older never", f,
			[]precedent.Dismissal{because(first, "never in this repo"), second},
			hidden, "first", 90,
		},
		{"two like it, one expired", f, []precedent.Dismissal{first, expired(second)}, "", "first", 75},
		{"two like it, high", like("io/a.go", bugs, high, 90), both, "", "second", 75},
		{"two like it, protected", like("io/a.go", precedent.Race, medium, 90), both, "", "second", 75},
		{"two like it, high, near the threshold", like("io/a.go", bugs, high, 80), both, "", "second", 75},
		{"two like it, high, below the threshold", like("io/a.go", bugs, high, 60), both, "", "second", 45},
		{"one like it, hardly believed", like("io/a.go", bugs, medium, 10), one(first), "", "first", 0},
		{"one like it, of an analyzer", analyzer, one(first), "", "first", 90},
		{
			"two milder ones like it", f,
			[]precedent.Dismissal{about(first, "Load", precedent.Low), about(second, "Load", precedent.Nit)},
			"", "second", 75,
		},
		{"another symbol", in(f, "Save"), both, "", "", 90},
		{"no symbol", in(f, ""), []precedent.Dismissal{about(first, "", medium), about(second, "", medium)}, "", "", 90},
		{
			"another claim about the symbol", of(f, bugs, "Load", "Path from the request reaches os.Open unchecked"), both,
			"", "", 90,
		},
		{"another file, symbol meant", like("io/b.go", bugs, medium, 90), both, "", "", 90},
		{
			"another file, folder meant", like("io/sub/b.go", bugs, medium, 90),
			[]precedent.Dismissal{because(first, "we don't do this here"), second},
			"", "first", 75,
		},
		{
			"another folder of like name, folder meant", like("ios/b.go", bugs, medium, 90),
			[]precedent.Dismissal{because(first, "we don't do this here")},
			"", "", 90,
		},
		{"below the root, whose files are meant", f, one(because(atRoot, "we don't do this here")), "", "", 90},
		{
			"another folder, repository meant", like("net/b.go", bugs, medium, 90),
			[]precedent.Dismissal{because(first, "not in this repo"), because(second, "not in this repo, please")},
			hidden, "second", 90,
		},
		{
			"same place, another category, similar words", of(f, precedent.Style, "", "Close error ignored"), one(samePlace),
			"", "first", 75,
		},
		{
			"same place, another category, another claim", of(f, precedent.Style, "", "Misspelled word"), one(samePlace),
			"", "", 90,
		},
		{"same place and category, another of equal lines", of(f, bugs, "", "Whatever"), one(samePlace), "", "first", 75},
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

// TestAuditShare suppresses many findings by pattern: about one in twenty is shown collapsed.
func TestAuditShare(t *testing.T) {
	var findings []precedent.Finding
	for i := range 4000 {
		findings = append(findings, in(find("a.go", fmt.Sprint("line ", i), precedent.Bugs, precedent.Low, "Error ignored"), "Load"))
	}
	reject := []precedent.Dismissal{dismiss(in(find("a.go", "old", precedent.Bugs, precedent.Low, "Error ignored"), "Load"), "r", "never", 0)}
	collapsed := 0
	for _, f := range Suppress(findings, reject, start, 75, nil) {
		if f.Dropped != precedent.Rejected {
			t.Fatalf("%+v", f)
		}
		if f.Placement == precedent.Collapsed {
			collapsed++
		}
	}
	if collapsed < 140 || collapsed > 260 {
		t.Errorf("%d of 4000 are shown, want about 200", collapsed)
	}
}

// TestSuppressJudged: the judge decides about claims that are alike and about the
// same place; where it is silent, only what is surely the same counts.
func TestSuppressJudged(t *testing.T) {
	now := start.AddDate(0, 0, 30)
	at := func(path, line, title string) precedent.Finding {
		return in(find(path, line, precedent.Bugs, precedent.Medium, title), "Load")
	}
	declined := at("io/a.go", "defer g.Close()", "Error of the deferred Close call is ignored")
	everywhere := dismiss(declined, "j1", "never flag this in this repository", 1)
	alike := at("net/b.go", "defer c.Close()", "The deferred Close call may fail and its error is lost")
	alike.Symbol = "Dial"
	same := at("io/a.go", "defer h.Close()", declined.Title)
	other := at("net/b.go", "x := y / z", "Division by zero for an empty list")
	inBody := at("net/b.go", "defer c.Close()", "Data may be lost")
	inBody.Body = "The deferred Close call fails and the error is ignored."
	protected := alike
	protected.Category = precedent.DataLoss
	for _, test := range []struct {
		name    string
		finding precedent.Finding
		answer  map[int]bool
		asked   int
		dropped precedent.Dropped
	}{
		{"covered", alike, map[int]bool{0: true}, 1, precedent.Rejected},
		{"not covered", alike, map[int]bool{0: false}, 1, ""},
		{"silent about what is alike", alike, nil, 1, ""},
		{"silent about what is surely the same", same, nil, 1, precedent.Rejected},
		{"surely the same, but the judge says no", same, map[int]bool{0: false}, 1, ""},
		{"nothing alike", other, map[int]bool{0: true}, 0, ""},
		{"alike by its body", inBody, map[int]bool{0: true}, 1, precedent.Rejected},
		{"covered, but protected", protected, map[int]bool{0: true}, 1, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := 0
			got := Suppress([]precedent.Finding{test.finding}, []precedent.Dismissal{everywhere}, now, 75, func(q []Question) map[int]bool {
				asked = len(q)
				return test.answer
			})[0]
			if got.Dropped != test.dropped || asked != test.asked {
				t.Errorf("dropped %q after %d questions, trail %v", got.Dropped, asked, got.Trail)
			}
		})
	}
}

// TestSuppressAsksTheLikeliest: of many candidates the most similar ones are asked about, and never about what was
// dropped or dismissed by name.
func TestSuppressAsksTheLikeliest(t *testing.T) {
	const title = "Error of the deferred Close call is ignored"
	var findings []precedent.Finding
	for i := range 60 {
		said := fmt.Sprintf("The deferred Close call may fail in case %d and its error is lost", i)
		if i >= 30 {
			said = title
		}
		findings = append(findings, find(fmt.Sprintf("p%d.go", i), "defer f.Close()", precedent.Bugs, precedent.Low, said))
	}
	findings[59].Drop("verify", precedent.Refuted, "", "no")
	all := dismiss(find("z.go", "defer z.Close()", precedent.Bugs, precedent.Low, title), "j1", "never flag this in this repo", 0)
	both := []precedent.Dismissal{all, dismiss(findings[58], "j2", "no", 0)}
	Suppress(findings, both, start, 75, func(asked []Question) map[int]bool {
		paths := needs.Each(asked, func(q Question) string { return q.Finding.Path })
		if len(asked) != maxQuestions || paths[0] != "p30.go" || paths[27] != "p57.go" || paths[28] != "p0.go" {
			t.Errorf("asked about %q", paths)
		}
		return nil
	})
}

// TestSuppressAsksAboutAFew: a finding has few questions, first about its own place, of those first the most alike. What a judge is not asked about,
// because it answered about likelier dismissals, covers nothing.
func TestSuppressAsksAboutAFew(t *testing.T) {
	f := in(find("io/a.go", "defer f.Close()", precedent.Bugs, precedent.Medium, "Error of the deferred Close call is ignored"), "Load")
	var all []precedent.Dismissal
	for i := range maxPatterns + 2 {
		all = append(all, dismiss(in(find("io/a.go", fmt.Sprint("defer ", i), precedent.Bugs, precedent.Medium, f.Title), "Load"), fmt.Sprint("j", i), "", i))
	}
	all[0].Place, all[0].Claim = f.Place, "Whatever"
	all[1].Place = f.Place
	for answered, dropped := range map[int]precedent.Dropped{maxPatterns: "", maxPatterns - 1: precedent.Rejected} {
		got := Suppress([]precedent.Finding{f}, all, start.AddDate(0, 0, 30), 75, func(q []Question) map[int]bool {
			if len(q) != maxPatterns || q[0].Dismissal.ID != "j1" || q[1].Dismissal.ID != "j0" {
				t.Errorf("asked %+v", q)
			}
			said := map[int]bool{}
			for i := range answered {
				said[i] = false
			}
			return said
		})[0]
		if got.Dropped != dropped {
			t.Errorf("%d answers: dropped %q, trail %v", answered, got.Dropped, got.Trail)
		}
	}
}

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
	m, now := remember(t)
	no, yes := in(find("io/a.go", "defer g.Close()", precedent.Bugs, precedent.Medium, "Error of Close is ignored"), "Load"), in(find("io/a.go", "defer k.Close()", precedent.Bugs, precedent.Medium, "Error of Close is ignored"), "Load")
	record(t, m, "r1", "one", no, yes)
	needs.Value(m.Dismiss(ctx, no.ID, Dismissal{Reason: "intended here", Who: "dana"}))(t)
	*now = now.AddDate(0, 0, 2)
	fixed := became(posted(yes, "t1"), precedent.Fixed, "", "", false)
	fixed.At = *now
	needs.Value(m.Learn(ctx, 7, []precedent.Thread{posted(yes, "t1")}, []precedent.Outcome{fixed}))(t)
	if r := recall(t, m, "next", "io/a.go"); len(r.Dismissals) != 1 || r.Dismissals[0].Accepted != 1 {
		t.Errorf("%+v", r.Dismissals)
	}
}
