package eval

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestThresholds: on a part of the simulation, the tuner that ships is more precise than the
// simple rule, and the same seed gives the same figures.
func TestThresholds(t *testing.T) {
	run := runThresholds(HeldOutSeed, needs.Rounds(24, 15))
	simple, tuner := run.Rules[1], run.Rules[2]
	if *tuner.Precision.Value <= *simple.Precision.Value || *tuner.Below.Value >= *simple.Below.Value {
		t.Errorf("the tuner has %v and %v, the simple rule %v and %v", *tuner.Precision.Value, *tuner.Below.Value, *simple.Precision.Value, *simple.Below.Value)
	}
	if *tuner.Precision.Value < calibration.Target || *tuner.ECE.Value > *simple.ECE.Value {
		t.Errorf("precision %v, ECE %v", *tuner.Precision.Value, *tuner.ECE.Value)
	}
	if few := runThresholds(HeldOutSeed, 2); !reflect.DeepEqual(few, runThresholds(HeldOutSeed, 2)) {
		t.Error("the same seed gives other figures")
	}
}

// TestOracle: the oracle's threshold reaches the target and the next lower one does not, and
// a change of habits has one for each.
func TestOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	precision := func(fs []simulated, threshold int) float64 {
		var p part
		for i := range fs {
			if fs[i].posts(fs[i].confidence, calibration.Learned{Threshold: threshold}) {
				p.add(part{fs[i].chance, 1})
			}
		}
		return p.of / p.in
	}
	found := 0
	for i := range 60 {
		r := simulateRepo("r", families[i%len(families)], rng)
		best := r.oracles()
		if len(best) != len(r.findings) || (r.family == drifting) != (r.drift > 0) {
			t.Fatalf("%s: %d thresholds, a change at %d", r.family, len(best), r.drift)
		}
		phase, threshold := r.findings[r.drift:], best[len(best)-1]
		if threshold == 0 {
			continue
		}
		found++
		if precision(phase, threshold) < calibration.Target || threshold > calibration.Lowest && precision(phase, threshold-5) >= calibration.Target {
			t.Errorf("%s: %d has %v, the one below %v", r.family, threshold, precision(phase, threshold), precision(phase, threshold-5))
		}
	}
	if found < 10 {
		t.Errorf("only %d are feasible", found)
	}
}
