package calibration

import "slices"

// Learned is what a repository's labels change in its reviews.
type Learned struct {
	Tuned
	Refit Refit
}

// Learn refits the confidences of a repository and tunes its threshold, from its labels,
// oldest first. The threshold is for refitted confidences.
func Learn(labels []Label) Learned {
	refit := NewRefit(slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Analyzer }))
	now := slices.Clone(labels)
	for i := range now {
		if l := &now[i]; !l.Analyzer {
			l.Confidence, l.Refit = refit.Apply(l.Confidence-l.Refit), 0
		}
	}
	return Learned{Tuned: Tune(now), Refit: refit}
}
