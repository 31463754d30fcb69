package review

import (
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestOdds computes confidences by hand: the odds of what the finder said, times the factors.
func TestOdds(t *testing.T) {
	for _, test := range []struct {
		name string
		f    precedent.Finding
		want int
		why  string
	}{
		{"no verdict", precedent.Finding{Confidence: 80, Verifier: precedent.Unchecked}, 80, ""},
		{"confirmed", precedent.Finding{Confidence: 60, Verifier: precedent.Confirmed}, 75, ", confirmed"},
		{
			"confirmed and wanted now",
			precedent.Finding{Confidence: 40, Verifier: precedent.Confirmed, Now: true},
			77,
			", confirmed, wanted now",
		},
		{"confirmed rule", precedent.Finding{Confidence: 60, Balance: 10, Verifier: precedent.Confirmed}, 82, ", confirmed"},
		{"uncertain", precedent.Finding{Confidence: 80, Severity: precedent.Medium, Verifier: precedent.Uncertain}, 50, ", uncertain"},
		{
			"uncertain and severe",
			precedent.Finding{Confidence: 80, Severity: precedent.High, Balance: -15, Verifier: precedent.Uncertain},
			65, ", uncertain",
		},
		{"nine finders", precedent.Finding{Confidence: 60, Votes: 9}, 77, ", 9 finders"},
		{"certain", precedent.Finding{Confidence: 100, Votes: 3, Verifier: precedent.Confirmed}, mostWithoutProof, ", confirmed, 3 finders"},
		{"impossible", precedent.Finding{Confidence: 0, Balance: -20, Verifier: precedent.Unchecked}, 1, ""},
	} {
		if got, why := ShippedOdds().Of(&test.f); got != test.want || why != test.why {
			t.Errorf("%s: %d%q, want %d%q", test.name, got, why, test.want, test.why)
		}
	}
}

// TestDoubtRaisesNothing: an uncertain verdict raises no finding, and hides no severe one that is shown without it.
func TestDoubtRaisesNothing(t *testing.T) {
	for _, category := range precedent.Categories {
		for _, severity := range precedent.Severities {
			for stated := range 101 {
				plain := precedent.Finding{Confidence: stated, Category: category, Severity: severity, Votes: 1 + stated%4}
				doubted := plain
				doubted.Verifier, doubted.Balance = precedent.Uncertain, deltaOfUncertain(&plain, stated%2 == 0)
				fs := []precedent.Finding{plain, doubted}
				score(fs, ShippedOdds(), DefaultThreshold)
				hides := isSevere(severity) && fs[0].Confidence >= DefaultThreshold && fs[1].Confidence < DefaultThreshold
				if fs[1].Confidence > fs[0].Confidence || hides {
					t.Errorf("%d %s %s: %d, and %d if a verifier doubts it", stated, severity, category, fs[0].Confidence, fs[1].Confidence)
				}
			}
		}
	}
}

// TestOddsOfOlderReviews: the odds that were stored before verifiers said what is wanted now count it as confirmed.
func TestOddsOfOlderReviews(t *testing.T) {
	f := precedent.Finding{Confidence: 60, Verifier: precedent.Confirmed, Now: true}
	if got, _ := (Odds{Confirmed: 2, Uncertain: 0.25, Agreement: 1.5}).Of(&f); got != 75 {
		t.Errorf("%d, want 75", got)
	}
}

// TestWhatIsMinor: low severity and what can wait is folded, what is severe, protected or asked for by the team is
// not, and a number below the threshold decides before both.
func TestWhatIsMinor(t *testing.T) {
	in := &Input{}
	in.fillDefaults()
	confirmed := func(confidence int, severity precedent.Severity, more func(*precedent.Finding)) *precedent.Finding {
		f := &precedent.Finding{Confidence: confidence, Severity: severity, Category: precedent.Types, Verifier: precedent.Confirmed}
		if more != nil {
			more(f)
		}
		return f
	}
	later := func(f *precedent.Finding) { f.Later = true }
	now := func(f *precedent.Finding) { f.Now = true }
	for _, test := range []struct {
		name string
		f    *precedent.Finding
		want string
	}{
		{"medium", confirmed(80, precedent.Medium, nil), "shown"},
		{"medium, can wait", confirmed(90, precedent.Medium, later), "minor"},
		{"low", confirmed(90, precedent.Low, nil), "minor"},
		{"low, wanted now", confirmed(90, precedent.Low, now), "shown"},
		{"nit, wanted now", confirmed(90, precedent.Nit, now), "minor"},
		{"low, unverified", &precedent.Finding{Confidence: 90, Severity: precedent.Low}, "minor"},
		{"low, a rule of the team", confirmed(90, precedent.Low, func(f *precedent.Finding) { f.Cites = []precedent.Cite{{Kind: "guide"}} }), "shown"},
		{"nit, a rule of the team", confirmed(90, precedent.Nit, func(f *precedent.Finding) { f.Cites = []precedent.Cite{{Kind: "guide"}} }), "minor"},
		{"high, can wait", confirmed(90, precedent.High, later), "shown"},
		{"below the threshold", confirmed(60, precedent.Medium, nil), "minor"},
		{"far below the threshold", confirmed(49, precedent.Medium, nil), "hidden"},
		{"below the threshold, unverified", &precedent.Finding{Confidence: 60, Severity: precedent.Medium}, "hidden"},
		{"lowered by a dismissal", confirmed(60, precedent.Low, func(f *precedent.Finding) { f.Weighed = -20 }), "hidden"},
		{"an analyzer's", &precedent.Finding{Confidence: 90, Severity: precedent.Low, Analyzer: true, Category: precedent.Security}, "minor"},
	} {
		got := "hidden"
		switch {
		case in.minorWhy(test.f) != "":
			got = "minor"
		case in.shows(test.f):
			got = "shown"
		}
		if got != test.want {
			t.Errorf("%s is %s, want %s", test.name, got, test.want)
		}
	}
}

// TestCanBeShown: a verifier reads what its best verdict would show, in full or folded.
func TestCanBeShown(t *testing.T) {
	for _, test := range []struct {
		confidence int
		severity   precedent.Severity
		minor      precedent.MinorDisplay
		want       bool
	}{
		{10, precedent.High, "", true},
		{28, precedent.Medium, "", true},
		{20, precedent.Medium, precedent.MinorOff, false},
		{90, precedent.Nit, "", true},
		{90, precedent.Nit, precedent.MinorOff, false},
		{15, precedent.Medium, "", false},
	} {
		in := &Input{Policy: precedent.Policy{Minor: test.minor}}
		in.fillDefaults()
		f := &precedent.Finding{Confidence: test.confidence, Severity: test.severity, Category: precedent.Types, Votes: 1}
		if got := in.canBeShown(f); got != test.want {
			t.Errorf("%d %s, minor %q: %v", test.confidence, test.severity, test.minor, got)
		}
	}
}

// TestRestate: the verifier's severity replaces the finder's, and what it would leave is folded; neither folds what
// was severe or is in a protected category.
func TestRestate(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		name     string
		category precedent.Category
		from     precedent.Severity
		v        ruling
		severity precedent.Severity
		later    bool
	}{
		{"now", precedent.Types, precedent.Low, ruling{Now: &yes}, precedent.Low, false},
		{"lower", precedent.Types, precedent.Medium, ruling{Severity: precedent.Low}, precedent.Low, false},
		{"raise", precedent.Types, precedent.Low, ruling{Severity: precedent.High}, precedent.High, false},
		{"leave", precedent.Style, precedent.Low, ruling{Now: &no}, precedent.Low, true},
		{"nothing said", precedent.Types, precedent.Low, ruling{}, precedent.Low, false},
		{"nothing said of a test", precedent.Tests, precedent.Low, ruling{}, precedent.Low, true},
		{"severe", precedent.Bugs, precedent.Critical, ruling{Severity: precedent.Nit, Now: &no}, precedent.Medium, false},
		{"protected", precedent.Security, precedent.Medium, ruling{Severity: precedent.Low, Now: &no}, precedent.Medium, false},
	} {
		f := &precedent.Finding{Category: test.category, Severity: test.from}
		test.v.restate(f)
		if f.Now != (test.v.Now == &yes) || f.Severity != test.severity || f.Later != test.later || (len(f.Trail) == 1) != (f.Severity != test.from) {
			t.Errorf("%s: %s, later %v, %v", test.name, f.Severity, f.Later, f.Trail)
		}
	}
}

// TestMinor: what is confirmed and mostly not worth a change is folded, shown or left out, as the policy says.
func TestMinor(t *testing.T) {
	for display, want := range map[precedent.MinorDisplay]struct {
		dropped   precedent.Dropped
		placement precedent.Placement
		verdict   precedent.Verdict
	}{
		precedent.MinorFold: {precedent.Minor, precedent.Collapsed, precedent.Clean},
		precedent.MinorShow: {"", precedent.Inline, precedent.Findings},
		precedent.MinorOff:  {precedent.BelowThreshold, precedent.Hidden, precedent.Clean},
	} {
		t.Run(string(display), func(t *testing.T) {
			in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
			in.Policy.Minor, in.Policy.Finders = display, only("style")
			in.Engine = &cast{
				finder: finds(inCart(loop, "n is not a good name",
					object{"category": "style", "severity": "low", "confidence": 80})),
				verifier: ruled(map[string]object{"n is not a good name": rules("confirmed", "It is not.", loop)}),
			}
			r := run(t, in)
			f := byTitle(t, r, "n is not a good name")
			if f.Dropped != want.dropped || f.Placement != want.placement || f.Verifier != precedent.Confirmed ||
				r.Verdict != want.verdict {
				t.Errorf("dropped %q, %s, verifier %s, verdict %s: %s", f.Dropped, f.Placement, f.Verifier, r.Verdict, says(f))
			}
		})
	}
}
