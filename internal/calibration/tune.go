package calibration

import (
	"math"
	"slices"
)

// step is the number of percent points between thresholds, and the most by which one
// label moves the threshold.
const step = 5

// What a label is worth after each further one, and how likely the chosen threshold must reach the target. Both were
// chosen with the simulation of "precedent-eval threshold".
const (
	forgetting = 0.98
	sure       = 0.55
)

// Learned is what a repository's labels change in its reviews. The threshold is for confidences after the curve.
type Learned struct {
	Curve     Curve
	Threshold int // percent
	Labels    int // that it was learned from; below LeastLabels, Threshold is Start
	// NotEnough tells that not even Highest is likely to reach the target.
	NotEnough bool
}

// Curve is the chance that a team accepts a finding, by the confidence that the finding has without it, both in percent.
// The zero Curve changes nothing.
type Curve struct {
	Chances [101]uint8
	Labels  int // that it was learned from; 0 for none
}

// Apply returns the chance for a confidence in percent.
func (c Curve) Apply(confidence int) int {
	if c.Labels == 0 {
		return confidence
	}
	return int(c.Chances[min(max(confidence, 0), 100)])
}

// Learn learns from labels, oldest first. Every label from the LeastLabels-th on moves the threshold towards the lowest
// one that the labels make likely to reach the target. What an analyzer proved moves the threshold, not the curve.
func Learn(labels []Label) Learned {
	l := Learned{Threshold: Start, Labels: len(labels)}
	if len(labels) < LeastLabels {
		return l
	}
	var of posterior
	l.Threshold, l.NotEnough, of = tune(labels)
	own := slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Analyzer })
	if len(own) < LeastLabels {
		return l
	}
	if len(own) < len(labels) {
		_, _, of = tune(own)
	}
	l.Curve = of.curve(len(own))
	// What analyzers prove keeps its confidence, so a lower threshold would show more of that than the default does.
	l.Threshold = max(l.Curve.Apply(l.Threshold), Start)
	return l
}

// tune returns the threshold for confidences before the curve, whether even Highest is too low, and what the labels say.
func tune(labels []Label) (threshold int, notEnough bool, p posterior) {
	g := curves()
	threshold, p = Start, posterior{make([]float64, len(g.prior)), make([]float64, len(g.prior))}
	for i, l := range labels {
		l.Confidence -= l.Refit
		p.add(g, l, forgetting)
		if i+1 < LeastLabels {
			continue
		}
		p.weigh(g)
		target, ok := p.likely(g, sure)
		threshold = min(max(target, threshold-step), threshold+step)
		notEnough = !ok && threshold == Highest
	}
	return threshold, notEnough, p
}

// curve returns the mean of the curves, weighed by their chances.
func (p posterior) curve(labels int) Curve {
	c, g := Curve{Labels: labels}, curves()
	for confidence := range c.Chances {
		sum := 0.0
		for i, chance := range p.chances {
			sum += chance * math.Exp(g.accepted[i][confidence])
		}
		c.Chances[confidence] = uint8(math.Round(100 * sum))
	}
	return c
}
