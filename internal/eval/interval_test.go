package eval

import (
	"math/rand/v2"
	"testing"
)

// draw makes cases of which each has a precision of its own, around 0.6, and a
// number of candidates that has nothing to do with it.
func draw(rng *rand.Rand, cases int) []tally {
	var ts []tally
	for range cases {
		p := 0.2 + 0.8*rng.Float64()
		t := tally{candidates: 1 + rng.IntN(8), gold: 10}
		for range t.candidates {
			if rng.Float64() < p {
				t.hits++
			}
		}
		for range t.gold {
			if rng.Float64() < p/2 {
				t.found++
			}
		}
		ts = append(ts, t)
	}
	return ts
}

// TestIntervalsCover: intervals hold what is true about as often as they say.
// Percentiles of a bootstrap hold it a little less often.
func TestIntervalsCover(t *testing.T) {
	const rounds, cases, precision, recall = 150, 40, 0.6, 0.3
	rng := rand.New(rand.NewPCG(7, 7))
	held := map[string]int{}
	for i := range rounds {
		p, r, f := intervals(draw(rng, cases), uint64(i))
		for name, x := range map[string]struct {
			Ratio
			truth float64
		}{"precision": {p, precision}, "recall": {r, recall}, "F1": {f, 2 * precision * recall / (precision + recall)}} {
			if *x.Low > *x.Value || *x.Value > *x.High {
				t.Errorf("%s %.3f is outside of its own interval %.3f to %.3f", name, *x.Value, *x.Low, *x.High)
			}
			if *x.Low <= x.truth && x.truth <= *x.High {
				held[name]++
			}
		}
	}
	for _, name := range []string{"precision", "recall", "F1"} {
		if share := float64(held[name]) / rounds; share < 0.89 || share > 0.99 {
			t.Errorf("%.3f of the intervals of %s hold the truth, want about 0.95", share, name)
		}
	}
}
