package eval

import (
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
