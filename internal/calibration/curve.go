package calibration

import (
	"math"
	"sync"
)

// A cell is one curve of acceptance by confidence c: u·σ((c−m)/s), which never falls.
type cell struct{ m, s, u float64 }

// The grid of curves, and their prior: m is normal around priorMiddle, in percent, and
// the others are equally likely.
const (
	middles     = 15
	priorMiddle = 74
	priorSpread = 14
)

var (
	widths   = [...]float64{2, 4, 7, 11, 16} // s, in percent points
	ceilings = [...]float64{0.8, 0.92, 0.99} // u
)

// steps are the thresholds that a rule chooses from.
const steps = (Highest-Lowest)/step + 1

// grid holds, by curve, the logarithm of the prior, those of acceptance and of its
// opposite by confidence, and the share of accepted findings at or above each threshold
// if all confidences are equally frequent.
type grid struct {
	prior            []float64
	accepted, refuse [][101]float64
	precision        [][steps]float64
}

var curves = sync.OnceValue(func() *grid {
	g := &grid{}
	for i := range middles {
		z := float64(i-middles/2) / 3 // −2.33 to 2.33 deviations
		for _, s := range widths {
			for _, u := range ceilings {
				g.add(cell{m: priorMiddle + z*priorSpread, s: s, u: u}, -z*z/2)
			}
		}
	}
	return g
})

func (g *grid) add(c cell, prior float64) {
	var accepted, refused [101]float64
	var precision [steps]float64
	sum := 0.0
	for confidence := 100; confidence >= 0; confidence-- {
		p := c.u / (1 + math.Exp((c.m-float64(confidence))/c.s))
		accepted[confidence], refused[confidence] = math.Log(max(p, 1e-6)), math.Log(1-p)
		sum += p
		if t := confidence - Lowest; t >= 0 && t <= Highest-Lowest && t%step == 0 {
			precision[t/step] = sum / float64(101-confidence)
		}
	}
	g.prior, g.accepted = append(g.prior, prior), append(g.accepted, accepted)
	g.refuse, g.precision = append(g.refuse, refused), append(g.precision, precision)
}

// posterior is what labels say about the curves: the logarithm of their likelihood, and
// their chances, which add up to 1.
type posterior struct{ logs, chances []float64 }

// add adds a label, after which the earlier ones are worth less by a factor.
func (p posterior) add(g *grid, l Label, forgetting float64) {
	c, table := min(max(l.Confidence, 0), 100), g.accepted
	if !l.Accepted {
		table = g.refuse
	}
	for i := range p.logs {
		p.logs[i] = forgetting*p.logs[i] + table[i][c]
	}
}

func (p posterior) weigh(g *grid) {
	top := math.Inf(-1)
	for i, log := range p.logs {
		top = max(top, log+g.prior[i])
	}
	sum := 0.0
	for i, log := range p.logs {
		p.chances[i] = math.Exp(log + g.prior[i] - top)
		sum += p.chances[i]
	}
	for i := range p.chances {
		p.chances[i] /= sum
	}
}

// likely returns the lowest threshold that reaches the target with at least the given
// chance, and whether there is one.
func (p posterior) likely(g *grid, sure float64) (threshold int, ok bool) {
	for i := range steps {
		chance := 0.0
		for c, w := range p.chances {
			if g.precision[c][i] >= Target {
				chance += w
			}
		}
		if chance >= sure {
			return Lowest + step*i, true
		}
	}
	return Highest, false
}
