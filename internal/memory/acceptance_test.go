package memory

import (
	"math"
	"testing"
)

// TestRegularizedBeta against values that were computed with whole fractions.
func TestRegularizedBeta(t *testing.T) {
	for _, test := range []struct {
		x    float64
		a, b int
		want float64
	}{
		{0.7, 5, 1, 0.16807},
		{0.3, 3, 9, 0.68725954575},
		{0.7, 9, 3, 0.31274045425},
		{0.7, 30, 12, 0.40104779034961},
		{0.001, 2, 40, 0.0007989808347557144},
		{0.5, 100_000, 100_000, 0.5},
		{0, 2, 3, 0},
		{1, 2, 3, 1},
	} {
		if got := regularizedBeta(test.x, test.a, test.b); math.Abs(got-test.want) > 1e-9 {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

func TestAcceptanceOf(t *testing.T) {
	for _, test := range []struct {
		accepted, rejected int
		active             bool
	}{{0, 0, false}, {3, 0, false}, {4, 0, true}, {8, 1, true}, {7, 1, true}, {6, 1, false}, {10, 5, false}, {40, 10, true}} {
		a := AcceptanceOf(test.accepted, test.rejected)
		if (a.Likely >= activeCertainty) != test.active {
			t.Errorf("%d accepted, %d rejected: likely %.3f, want active %v", test.accepted, test.rejected, a.Likely, test.active)
		}
		if !(0 <= a.Low && a.Low < a.High && a.High <= 1) {
			t.Errorf("%+v", a)
		}
		if got := regularizedBeta(a.High, 1+test.accepted, 1+test.rejected); math.Abs(got-0.95) > 1e-9 {
			t.Errorf("%+v: %v below its high end", a, got)
		}
	}
}
