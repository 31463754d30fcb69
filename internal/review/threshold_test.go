package review

import (
	"slices"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/needs"
)

func learned(threshold int, notEnough bool) calibration.Learned {
	return calibration.Learned{Threshold: threshold, Labels: 64, NotEnough: notEnough}
}

// TestWhoseThreshold: the operator's threshold comes first, then the policy's, then the one
// that outcomes lead to, then the default.
func TestWhoseThreshold(t *testing.T) {
	operators, policys := 60, 85
	few := learned(75, false)
	few.Labels = calibration.LeastLabels - 1
	for _, test := range []struct {
		name           string
		operator, team *int
		learned        calibration.Learned
		want           int
		from           string
	}{
		{"operator", &operators, &policys, learned(90, false), 60, "--threshold"},
		{"policy", nil, &policys, learned(90, false), 85, "the repository's policy"},
		{"tuned", nil, nil, learned(90, false), 90, "tuned from 64 outcomes"},
		{"tuned in vain", nil, nil, learned(95, true), 95, "tuned from 64 outcomes, too few of which were accepted"},
		{"few labels", nil, nil, few, 75, "the default"},
		{"nothing", nil, nil, calibration.Learned{}, 75, "the default"},
	} {
		in := Input{
			Threshold: test.operator, ThresholdFrom: "--threshold", Policy: precedent.Policy{Threshold: test.team},
			Recall: memory.Recall{Learned: test.learned},
		}
		in.fillDefaults()
		if *in.Threshold != test.want || in.ThresholdFrom != test.from {
			t.Errorf("%s: %d, %q, want %d, %q", test.name, *in.Threshold, in.ThresholdFrom, test.want, test.from)
		}
	}
}

// TestTunedHidesNothingSevere: a tuned threshold and a refit hide no finding that is severe or
// of a protected category and that the default shows.
func TestTunedHidesNothingSevere(t *testing.T) {
	fs := []precedent.Finding{
		{Title: "high", Severity: precedent.High, Category: precedent.Bugs, Confidence: 80},
		{Title: "protected", Severity: precedent.Low, Category: precedent.Security, Confidence: 80},
		{Title: "weak", Severity: precedent.Critical, Category: precedent.Bugs, Confidence: 70},
		{Title: "medium", Severity: precedent.Medium, Category: precedent.Bugs, Confidence: 80},
		{Title: "proven", Severity: precedent.Medium, Category: precedent.Bugs, Confidence: 100, Analyzer: true},
	}
	for _, curve := range []calibration.Curve{{}, lowering(40)} {
		in := &Input{}
		in.Recall.Learned = learned(95, true)
		in.Recall.Learned.Curve = curve
		in.fillDefaults()
		if in.MaxInline != inlineIfNotEnough {
			t.Errorf("%d inline comments", in.MaxInline)
		}
		now := slices.Clone(fs)
		in.refit(now)
		choose(now, in, in.commentable)
		var live []string
		for _, f := range now {
			if f.Live() {
				live = append(live, f.Title)
			}
		}
		slices.Sort(live)
		if want := []string{"high", "protected", "proven"}; !slices.Equal(live, want) {
			t.Errorf("curve of %d labels: %v are shown, want %v", curve.Labels, live, want)
		}
	}
}

// lowering is a curve that lowers confidences by percent points.
func lowering(by int) calibration.Curve {
	c := calibration.Curve{Labels: 40}
	for i := range c.Chances {
		c.Chances[i] = uint8(min(max(i-by, 1), 99))
	}
	return c
}

// TestRefit: the confidence of findings without a proof follows what the team accepted, and the trail says so.
func TestRefit(t *testing.T) {
	in := &Input{}
	in.Recall.Learned.Curve = lowering(21)
	in.fillDefaults()
	fs := []precedent.Finding{
		{Severity: precedent.Medium, Category: precedent.Bugs, Confidence: 78},
		{Severity: precedent.Medium, Category: precedent.Bugs, Confidence: 78, Analyzer: true},
		{Severity: precedent.Medium, Category: precedent.Bugs, Confidence: 78, Dropped: precedent.Dismissed},
	}
	in.refit(fs)
	if f := fs[0]; f.Confidence != 57 || f.Refit != -21 || len(f.Trail) != 1 || f.Trail[0].Delta != -21 ||
		f.Trail[0].Text != "57 after what the team accepted of 40 findings" {
		t.Errorf("%+v", f)
	}
	for _, f := range fs[1:] {
		if f.Confidence != 78 || f.Refit != 0 || len(f.Trail) > 0 {
			t.Errorf("changed: %+v", f)
		}
	}
	in.Recall.Learned.Curve = lowering(-40)
	needs.Equal(t, mostWithoutProof, in.refitted(&precedent.Finding{Severity: precedent.Medium, Confidence: 78}))
}
