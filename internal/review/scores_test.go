package review

import (
	"math"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// TestShippedScores computes the table from the counts, independently of the code, and
// holds what it promises.
func TestShippedScores(t *testing.T) {
	s := ShippedScores()
	if got := s.Confirmed[correctness]; got != (Tally{19, 22}) || s.Confirmed[design] != (Tally{3, 7}) ||
		s.Confirmed[minor] != (Tally{0, 21}) ||
		s.Severe != (Tally{9, 9}) || s.Unverified != (Tally{3, 37}) {
		t.Fatalf("the counts are %+v", s)
	}
	beta := func(n, of, prior float64) float64 { return (n + 2*prior) / (of + 2) }
	all := 22.0 / 29
	group := map[Group]float64{
		correctness: beta(19, 22, all), design: beta(3, 7, all), minor: beta(0, 21, all),
		unlabelled: all,
	}
	rest := map[Group]float64{
		correctness: beta(10, 13, group[correctness]), design: beta(3, 7, group[design]),
		minor: beta(0, 21, group[minor]), unlabelled: all,
	}
	for _, c := range precedent.Categories {
		for _, severity := range precedent.Severities {
			f := &precedent.Finding{Category: c, Severity: severity, Votes: 1, Verifier: precedent.Confirmed}
			got, _, ok := s.Of(f)
			want := rest[groupOf(f)]
			if severity.AtLeast(precedent.High) {
				want = beta(9, 9, group[groupOf(f)])
			}
			if !ok || got != min(int(math.Round(100*want)), 97) {
				t.Errorf("confirmed %s %s: %d, want %.3f", severity, c, got, want)
			}
			low := !severity.AtLeast(precedent.High)
			switch c {
			case precedent.Bugs, precedent.Crash, precedent.Race, precedent.Security, precedent.DataLoss, precedent.Secrets:
				if got <= DefaultThreshold {
					t.Errorf("confirmed %s %s is not above the threshold: %d", severity, c, got)
				}
			case precedent.Tests, precedent.Style:
				if low && got > 5 {
					t.Errorf("confirmed %s %s: %d", severity, c, got)
				}
			case precedent.Architecture:
				if low && (got < 35 || got > 55) {
					t.Errorf("confirmed %s %s: %d", severity, c, got)
				}
			}
			f.Votes = 20
			if more, _, _ := s.Of(f); more < got || more > mostWithoutProof {
				t.Errorf("with 20 votes %d, with one %d", more, got)
			}
			f.Rule = "aaaaaaaa"
			if ruled, _, _ := s.Of(f); low && severity != precedent.Nit && ruled <= DefaultThreshold {
				t.Errorf("confirmed %s %s that breaks a rule: %d", severity, c, ruled)
			}
		}
	}
	if got, _, ok := s.Of(&precedent.Finding{
		Category: precedent.Bugs, Severity: precedent.Medium, Votes: 1,
		Verifier: precedent.Uncertain,
	}); !ok || got != 8 {
		t.Errorf("uncertain: %d", got)
	}
	for _, f := range []precedent.Finding{
		{Verifier: precedent.Unchecked},
		{Verifier: precedent.Uncertain, Category: precedent.Race},
		{
			Verifier: precedent.Uncertain, Category: precedent.Bugs,
			Severity: precedent.High,
		},
	} {
		if got, _, ok := s.Of(&f); ok {
			t.Errorf("%+v has a row: %d", f, got)
		}
	}
}

// TestMinor: what is confirmed and mostly not worth a change is folded, shown or left
// out, as the policy says.
func TestMinor(t *testing.T) {
	for display, want := range map[precedent.MinorDisplay]struct {
		dropped   precedent.Dropped
		placement precedent.Placement
		verifier  precedent.Check
		verdict   precedent.Verdict
	}{
		"":                  {precedent.Minor, precedent.Collapsed, precedent.Confirmed, precedent.Clean},
		precedent.MinorFold: {precedent.Minor, precedent.Collapsed, precedent.Confirmed, precedent.Clean},
		precedent.MinorShow: {"", precedent.Inline, precedent.Confirmed, precedent.Findings},
		precedent.MinorOff:  {precedent.BelowThreshold, precedent.Hidden, precedent.Unchecked, precedent.Clean},
	} {
		t.Run(string(display), func(t *testing.T) {
			in := input(t, shopBase, shopHead.with(files{"cart/aws.go": ""}))
			in.Policy.Minor, in.Policy.Finders = display, only("style")
			in.Engine = &cast{
				finder: func(task engine.Task) engine.Reply {
					if task.Name != "style" {
						return reply1()
					}
					return reply1(finding("cart/cart.go", 5, loop, "n is not a good name",
						map[string]any{"category": "style", "severity": "low", "confidence": 60}))
				},
				verifier: ruled(map[string]map[string]any{"n is not a good name": {
					"verdict": "confirmed", "reason": "It is not.",
					"evidence": line(loop),
				}}),
			}
			r := run(t, in)
			f := byTitle(t, r, "n is not a good name")
			if f.Dropped != want.dropped || f.Placement != want.placement || f.Verifier != want.verifier ||
				r.Verdict != want.verdict {
				t.Errorf("dropped %q, %s, verifier %s, verdict %s: %s", f.Dropped, f.Placement, f.Verifier, r.Verdict, says(f))
			}
		})
	}
}

// TestNoCertaintyWithoutProof: nothing that a model says, and nothing that a policy
// adds, makes a finding more than 97.
func TestNoCertaintyWithoutProof(t *testing.T) {
	in := input(t, shopBase, shopHead)
	in.Policy.Focus = []precedent.Category{precedent.Bugs}
	in.Engine = &cast{
		finder: func(engine.Task) engine.Reply {
			return reply1(finding("cart/cart.go", 5, loop, "off by one", map[string]any{"confidence": 100}),
				finding("cart/cart.go", 15, mean, "division by zero", map[string]any{"confidence": 100}))
		},
		verifier: ruled(map[string]map[string]any{"off by one": {
			"verdict": "confirmed", "reason": "Yes.",
			"evidence": line(loop),
		}}),
	}
	r := run(t, in)
	for _, title := range []string{"off by one", "division by zero"} {
		if f := byTitle(t, r, title); f.Confidence != 97 {
			t.Errorf("%s: %d: %s", title, f.Confidence, says(f))
		}
	}
}
