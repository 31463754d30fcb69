package eval

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Resamples is the number of bootstrap resamples of an interval: its ends then vary
// by about a tenth of the interval between seeds.
const Resamples = 2_000

// Ratio is a share with its 95 % bootstrap interval. Value is nil if the denominator
// is zero; Low and High are nil with fewer than two cases.
type Ratio struct {
	Value *float64 `json:"value"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// tally is what one or more cases contribute to a row of a score.
type tally struct {
	candidates, hits int // candidates, and those of them that match a gold mark
	gold, found      int // gold marks, and those of them that are matched
}

func (t *tally) add(o tally) {
	t.candidates += o.candidates
	t.hits += o.hits
	t.gold += o.gold
	t.found += o.found
}

func (t tally) precision() float64 { return float64(t.hits) / float64(t.candidates) }
func (t tally) recall() float64    { return float64(t.found) / float64(t.gold) }

// f1 is the harmonic mean, and 0 if both are 0.
func (t tally) f1() float64 {
	p, r := t.precision(), t.recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

// intervals returns precision, recall and F1 of all cases together. The bootstrap draws whole cases, because
// remarks about one change are not independent. It uses the 2.5th and 97.5th percentile.
func intervals(cases []tally, seed uint64) (precision, recall, f1 Ratio) {
	var all tally
	for _, c := range cases {
		all.add(c)
	}
	measures := []func(tally) float64{tally.precision, tally.recall, tally.f1}
	drawn := make([][]float64, len(measures))
	if len(cases) > 1 {
		rng := rand.New(rand.NewPCG(seed, seed)) // draws must be repeatable, and guard nothing
		for range Resamples {
			var sum tally
			for range cases {
				sum.add(cases[rng.IntN(len(cases))])
			}
			for i, measure := range measures {
				if v := measure(sum); !math.IsNaN(v) {
					drawn[i] = append(drawn[i], v)
				}
			}
		}
	}
	ratios := make([]Ratio, len(measures))
	for i, measure := range measures {
		if v := measure(all); !math.IsNaN(v) {
			ratios[i].Value = &v
			ratios[i].Low, ratios[i].High = percentile(drawn[i], 0.025), percentile(drawn[i], 0.975)
		}
	}
	return ratios[0], ratios[1], ratios[2]
}

// percentile returns the value below which the given share of values lies, nil if there are none.
func percentile(values []float64, share float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return &values[int(math.Round(share*float64(len(values)-1)))]
}

// wilson returns the share of hits in n with its 95 % Wilson score interval, for single draws that are
// independent (E. B. Wilson, JASA 22, 1927). It is also meaningful at 0 and 100 %.
func wilson(hits, n int) Ratio {
	if n == 0 {
		return Ratio{}
	}
	const z = 1.959964
	total, share := float64(n), float64(hits)/float64(n)
	center := (share + z*z/(2*total)) / (1 + z*z/total)
	half := z / (1 + z*z/total) * math.Sqrt(share*(1-share)/total+z*z/(4*total*total))
	low, high := max(center-half, 0), min(center+half, 1)
	return Ratio{&share, &low, &high}
}
