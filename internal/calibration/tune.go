package calibration

import (
	"hash/fnv"
	"math/rand/v2"
)

// step is the number of percent points between thresholds, and the most by which one
// label moves the threshold.
const step = 5

// Rule is a way to choose the threshold from the curves that labels make likely.
type Rule struct {
	// Forgetting is what a label is worth after each further one.
	Forgetting float64
	// Sure is how likely the chosen threshold must reach the target.
	Sure float64
	// Credit draws a curve instead (Thompson sampling) while the team accepted at least the
	// target of the last creditLabels labels, and doubles the steps upwards if it is missed
	// by more than one label.
	Credit bool
}

// The rules. Likely is the one that reviews use; the simulation of "precedent eval
// threshold" compares them.
var (
	Likely   = Rule{Forgetting: 0.98, Sure: 0.55}
	Thompson = Rule{Forgetting: 0.997, Sure: 0.7, Credit: true}
)

const creditLabels = 40

// Tuned is the threshold that a repository's labels lead to.
type Tuned struct {
	Threshold int // percent
	Labels    int // that it was tuned from; below LeastLabels, it is Start
	// NotEnough tells that not even Highest is likely to reach the target.
	NotEnough bool
}

// Tune returns the threshold after the labels, oldest first. Every label from the
// LeastLabels-th on moves it towards what the rule chooses then. The repository's name
// seeds the draws of a rule that draws, so that the same labels have one threshold.
func (r Rule) Tune(repository string, labels []Label) Tuned {
	t := Tuned{Threshold: Start, Labels: len(labels)}
	if len(labels) < LeastLabels {
		return t
	}
	g := curves()
	p, seed := newPosterior(g), seedOf(repository)
	for i, l := range labels {
		p.add(g, l, r.Forgetting)
		if i+1 < LeastLabels {
			continue
		}
		p.weigh(g)
		target, ok := p.likely(g, r.Sure)
		up := step
		if r.Credit {
			credit := creditOf(labels[:i+1])
			switch {
			case credit >= 0:
				// The draw guards nothing, and must be repeatable.
				target, ok = p.drawn(g, rand.New(rand.NewPCG(seed, uint64(i)))), true
			case credit < -1:
				up = 2 * step
			}
		}
		t.Threshold = min(max(target, t.Threshold-step), t.Threshold+up)
		t.NotEnough = !ok && t.Threshold == Highest
	}
	return t
}

// creditOf is by how many of the last labels the team accepted more than the target.
func creditOf(labels []Label) float64 {
	credit := 0.0
	for _, l := range labels[max(0, len(labels)-creditLabels):] {
		credit -= Target
		if l.Accepted {
			credit++
		}
	}
	return credit
}

func seedOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}
