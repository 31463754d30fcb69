package memory

import (
	"math"
	"testing"
)

// TestRegularizedBeta against values of closed forms: I_x(a, 1) = x^a, I_x(1, b) = 1-(1-x)^b, and
// I_0.5(a, a) = 0.5; and against I_x(a, b) = I_x(a+1, b) + x^a (1-x)^b / (a B(a, b)) (DLMF 8.17.20).
func TestRegularizedBeta(t *testing.T) {
	check := func(x float64, a, b int, want float64) {
		t.Helper()
		if got := regularizedBeta(x, a, b); math.Abs(got-want) > 1e-9 {
			t.Errorf("I_%v(%v, %v) = %v, want %v", x, a, b, got, want)
		}
	}
	for _, x := range []float64{0, 0.001, 0.1, 0.3, 0.5, 0.7, 0.95, 0.999, 1} {
		for _, n := range []int{1, 2, 40, 300, 100_000} {
			check(x, n, 1, math.Pow(x, float64(n)))
			check(x, 1, n, 1-math.Pow(1-x, float64(n)))
			check(0.5, n, n, 0.5)
		}
		for _, ab := range [][2]int{{1, 1}, {5, 1}, {9, 3}, {3, 9}, {30, 12}, {101, 51}} {
			a, b := float64(ab[0]), float64(ab[1])
			lga, _ := math.Lgamma(a + 1)
			lgb, _ := math.Lgamma(b)
			lgab, _ := math.Lgamma(a + b)
			check(x, ab[0], ab[1], regularizedBeta(x, ab[0]+1, ab[1])+math.Pow(x, a)*math.Pow(1-x, b)*math.Exp(lgab-lga-lgb))
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
