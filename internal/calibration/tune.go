package calibration

// step is the number of percent points between thresholds, and the most by which one
// label moves the threshold.
const step = 5

// What a label is worth after each further one, and how likely the chosen threshold must reach the target. Both were
// chosen with the simulation of "precedent-eval threshold".
const (
	forgetting = 0.98
	sure       = 0.55
)

// Tuned is the threshold that a repository's labels lead to.
type Tuned struct {
	Threshold int // percent
	Labels    int // that it was tuned from; below LeastLabels, it is Start
	// NotEnough tells that not even Highest is likely to reach the target.
	NotEnough bool
}

// Tune returns the threshold after the labels, oldest first. Every label from the
// LeastLabels-th on moves it towards the lowest one that the labels make likely to reach the target.
func Tune(labels []Label) Tuned {
	t := Tuned{Threshold: Start, Labels: len(labels)}
	if len(labels) < LeastLabels {
		return t
	}
	g := curves()
	p := newPosterior(g)
	for i, l := range labels {
		p.add(g, l, forgetting)
		if i+1 < LeastLabels {
			continue
		}
		p.weigh(g)
		target, ok := p.likely(g, sure)
		t.Threshold = min(max(target, t.Threshold-step), t.Threshold+step)
		t.NotEnough = !ok && t.Threshold == Highest
	}
	return t
}
