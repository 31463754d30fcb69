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

// intervals returns precision, recall and F1 of all cases together.
func intervals(cases []tally, seed uint64) (precision, recall, f1 Ratio) {
	r := bootstrap(len(cases), seed, func(drawn func(int) int) []float64 {
		var sum tally
		for i := range cases {
			sum.add(cases[drawn(i)])
		}
		return []float64{sum.precision(), sum.recall(), sum.f1()}
	})
	return r[0], r[1], r[2]
}

// quotients returns quotients of two of the sums of all groups.
func quotients(groups []tallies, of [][2]int, seed uint64) []Ratio {
	return bootstrap(len(groups), seed, func(drawn func(int) int) []float64 {
		var sum tallies
		for i := range groups {
			for k, v := range groups[drawn(i)] {
				sum[k] += v
			}
		}
		values := make([]float64, len(of))
		for k, q := range of {
			values[k] = sum[q[0]] / sum[q[1]]
		}
		return values
	})
}

// tallies are what one pull request adds to several counts.
type tallies [5]float64

// bootstrap returns measures of n cases together, with 95 % intervals. It draws whole cases, because remarks
// about one change are not independent, and uses the 2.5th and 97.5th percentile.
func bootstrap(n int, seed uint64, measure func(drawn func(int) int) []float64) []Ratio {
	all := measure(func(i int) int { return i })
	drawn := make([][]float64, len(all))
	if n > 1 {
		rng := rand.New(rand.NewPCG(seed, seed)) // draws must be repeatable, and guard nothing
		for range Resamples {
			for k, v := range measure(func(int) int { return rng.IntN(n) }) {
				if !math.IsNaN(v) {
					drawn[k] = append(drawn[k], v)
				}
			}
		}
	}
	ratios := make([]Ratio, len(all))
	for k := range all {
		if !math.IsNaN(all[k]) {
			ratios[k] = Ratio{&all[k], percentile(drawn[k], 0.025), percentile(drawn[k], 0.975)}
		}
	}
	return ratios
}

// grouped are values by name, in order of first use.
type grouped[T any] struct {
	list []T
	at   map[string]int
}

func (g *grouped[T]) of(name string) *T {
	i, ok := g.at[name]
	if !ok {
		if g.at == nil {
			g.at = map[string]int{}
		}
		i = len(g.list)
		g.at[name] = i
		g.list = append(g.list, *new(T))
	}
	return &g.list[i]
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
