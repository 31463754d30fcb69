package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// labelsOf are labels at confidences, accepted with a chance by confidence.
func labelsOf(n int, seed uint64, chance func(confidence int) float64) []Label {
	rng := rand.New(rand.NewPCG(seed, seed))
	labels := make([]Label, n)
	for i := range labels {
		c := 50 + rng.IntN(50)
		labels[i] = Label{Confidence: c, Accepted: rng.Float64() < chance(c)}
	}
	return labels
}

func always(int) float64 { return 1 }
func never(int) float64  { return 0 }

// TestTune: nothing changes before LeastLabels, a team that accepts everything is shown more,
// one that declines everything less, and the same labels have the same threshold.
func TestTune(t *testing.T) {
	for _, test := range []struct {
		name      string
		labels    []Label
		low, high int
		notEnough bool
	}{
		{"none", nil, 75, 75, false},
		{"few", labelsOf(LeastLabels-1, 1, never), 75, 75, false},
		{"all declined", labelsOf(100, 1, never), 95, 95, true},
		{"all accepted", labelsOf(200, 1, always), 50, 60, false},
		{"half of them at 75", labelsOf(300, 1, func(c int) float64 { return 0.98 / (1 + math.Exp(float64(75-c)/4)) }), 75, 90, false},
		{"six of ten at any confidence", labelsOf(200, 1, func(int) float64 { return 0.6 }), 95, 95, true},
	} {
		got, notEnough, _ := tune(test.labels)
		if got < test.low || got > test.high || notEnough != test.notEnough {
			t.Errorf("%s: %d, want %d to %d", test.name, got, test.low, test.high)
		}
		l := Learn(test.labels)
		if l.Threshold < Start || l.Threshold > 100 || l.NotEnough != notEnough || l.Labels != len(test.labels) || l != Learn(test.labels) {
			t.Errorf("%s: %+v", test.name, l)
		}
	}
}

// TestTuneSteps: a label moves the threshold by one step, and never out of its range.
func TestTuneSteps(t *testing.T) {
	labels := slices.Concat(labelsOf(40, 2, always), labelsOf(40, 3, never), labelsOf(60, 4, always))
	before := Start
	for n := range labels {
		now, _, _ := tune(labels[:n+1])
		if now < Lowest || now > Highest || now > before+step || now < before-step {
			t.Fatalf("%d after %d", now, before)
		}
		before = now
	}
}

func TestComputeOptimalThreshold(t *testing.T) {
	at := func(confidence int, accepted ...bool) (ls []Label) {
		for _, a := range accepted {
			ls = append(ls, Label{Confidence: confidence, Accepted: a})
		}
		return ls
	}
	yes := slices.Repeat([]bool{true}, 9)
	for _, test := range []struct {
		name   string
		labels []Label
		want   Optimal
	}{
		{"none", nil, Optimal{Threshold: Start}},
		{"nine of ten", at(60, append([]bool{false}, yes...)...), Optimal{Lowest, 10, 9}},
		{"above a declined one", slices.Concat(at(60, false, false), at(80, yes...)), Optimal{61, 9, 9}},
		{"all declined", at(97, false), Optimal{Highest, 1, 0}},
		{"only below the range", at(30, true), Optimal{Highest, 0, 0}},
	} {
		if got := ComputeOptimalThreshold(test.labels); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// TestCurve: the curve finds what a team accepts, starts from the confidence before earlier
// curves, and changes nothing without enough labels.
func TestCurve(t *testing.T) {
	if l := Learn(labelsOf(LeastLabels-1, 1, never)); l.Curve != (Curve{}) || l.Curve.Apply(78) != 78 {
		t.Errorf("few labels: %+v", l)
	}
	half := func(c int) float64 { return 0.9 / (1 + math.Exp(float64(78-c)/8)) }
	l := Learn(labelsOf(300, 1, half))
	for _, c := range []int{60, 70, 78, 85, 95} {
		if got, want := l.Curve.Apply(c), 100*half(c); math.Abs(float64(got)-want) > 12 { // the last 50 or so count
			t.Errorf("%d became %d, want about %.0f", c, got, want)
		}
	}
	for c := 1; c <= 100; c++ {
		if l.Curve.Apply(c) < l.Curve.Apply(c-1) {
			t.Errorf("%d became less than %d", c, c-1)
		}
	}
	again := labelsOf(300, 1, half)
	for i := range again {
		was := again[i].Confidence
		again[i].Confidence = l.Curve.Apply(was)
		again[i].Refit = again[i].Confidence - was
	}
	if got := Learn(again); got != l {
		t.Errorf("after it was applied: %+v, want %+v", got, l)
	}
}

// TestAnalyzersHaveNoCurve: what people say about an analyzer's findings changes the
// threshold, not the confidence of others.
func TestAnalyzersHaveNoCurve(t *testing.T) {
	labels := labelsOf(100, 1, never)
	for i := range labels {
		labels[i].Analyzer = true
	}
	got := Learn(labels)
	if got.Curve != (Curve{}) || got.Labels != 100 || got.Threshold != Highest {
		t.Errorf("%+v", got)
	}
}

func TestReliability(t *testing.T) {
	if r := NewReliability(nil); r.Points != 0 || r.ECE != 0 || r.Brier != 0 || len(r.Bins) != bins {
		t.Errorf("without points: %+v", r)
	}
	// By hand: two bins, .3 and .1 apart; (.8²+.2²+.1²+.1²)/4 and a mean of .75.
	r := NewReliability(Points([]Label{{Confidence: 80}, {Confidence: 80, Accepted: true}, {Confidence: 90, Accepted: true}, {Confidence: 90, Accepted: true}}))
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-12 }
	if !near(r.ECE, (2*0.3+2*0.1)/4) || !near(r.Brier, 0.7/4) || !near(r.Skill, 1-(0.7/4)/(0.75*0.25)) {
		t.Errorf("%+v", r)
	}
	if b := r.Bins[8]; b.Points != 2 || !near(b.Predicted, 0.8) || !near(b.Observed, 0.5) {
		t.Errorf("%+v", b)
	}
	if b := NewReliability([]Point{{1, 1}}).Bins[9]; b.Points != 1 {
		t.Errorf("a prediction of 1 is in %+v", b)
	}
	if r := NewReliability([]Point{{0.3, 0.3}, {0.7, 0.7}}); r.ECE != 0 || r.Skill <= 0 {
		t.Errorf("true chances: %+v", r)
	}
}
