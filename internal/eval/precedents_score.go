package eval

import (
	"math"
	"math/rand/v2"
)

// retrieval scores ranks. The intervals draw whole pull requests, because the comments of one are
// about the same code.
func retrieval(file, way string, ranks []rank, pool int, seed uint64) Retrieval {
	r := Retrieval{File: file, Way: way, Queries: len(ranks), Pool: pool}
	pulls := pullSums{width: 5}
	for _, k := range ranks {
		s := pulls.of(k.pull)
		s[0]++
		if k.at == 0 {
			continue
		}
		s[1] += 1 / float64(k.at)
		for n, depth := range []int{1, 5, 10} {
			if k.at <= depth {
				s[2+n]++
			}
		}
	}
	r.Pulls = len(pulls.sums)
	all := quotients(pulls.sums, [][2]int{{1, 0}, {2, 0}, {3, 0}, {4, 0}}, seed)
	r.MRR, r.First, r.Five, r.Ten = all[0], all[1], all[2], all[3]
	return r
}

// tallies are what one pull request adds to several counts.
type tallies []float64

// quotients returns quotients of two of the sums of all pull requests, with 95 % intervals by
// drawing pull requests.
func quotients(groups []tallies, of [][2]int, seed uint64) []Ratio {
	out := make([]Ratio, len(of))
	total := func(draw func(int) int) tallies {
		var all tallies
		for i := range groups {
			g := groups[draw(i)]
			if all == nil {
				all = make(tallies, len(g))
			}
			for k, v := range g {
				all[k] += v
			}
		}
		return all
	}
	if len(groups) == 0 {
		return out
	}
	value := func(all tallies, k int) float64 { return all[of[k][0]] / all[of[k][1]] }
	all := total(func(i int) int { return i })
	drawn := make([][]float64, len(of))
	if len(groups) > 1 {
		rng := rand.New(rand.NewPCG(seed, seed)) // draws must be repeatable, and guard nothing
		for range Resamples {
			s := total(func(int) int { return rng.IntN(len(groups)) })
			for k := range of {
				if v := value(s, k); !math.IsNaN(v) {
					drawn[k] = append(drawn[k], v)
				}
			}
		}
	}
	for k := range of {
		if v := value(all, k); !math.IsNaN(v) {
			out[k] = Ratio{&v, percentile(drawn[k], 0.025), percentile(drawn[k], 0.975)}
		}
	}
	return out
}

// pullSums adds up what the queries of each pull request contribute.
type pullSums struct {
	index map[string]int
	sums  []tallies
	width int
}

func (g *pullSums) of(pull string) tallies {
	i, ok := g.index[pull]
	if !ok {
		if g.index == nil {
			g.index = map[string]int{}
		}
		i = len(g.sums)
		g.index[pull] = i
		g.sums = append(g.sums, make(tallies, g.width))
	}
	return g.sums[i]
}

// steps are the similarities that are tried.
var steps = func() []float64 {
	var all []float64
	for s := 30; s <= 90; s += 5 {
		all = append(all, float64(s)/100)
	}
	return all
}()
