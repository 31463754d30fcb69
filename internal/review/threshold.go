package review

import (
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
)

// inlineIfNotEnough caps the inline comments of a team that rejects too much at any threshold.
const inlineIfNotEnough = 2

// fillThreshold sets the threshold that nobody set: the policy's, the one that the outcomes of
// the repository's findings lead to, or the default.
func (in *Input) fillThreshold() {
	learned := in.Recall.Learned
	threshold, from := DefaultThreshold, "the default"
	switch {
	case in.Threshold != nil:
		return
	case in.Policy.Threshold != nil:
		threshold, from = *in.Policy.Threshold, "the repository's policy"
	case learned.Labels >= calibration.LeastLabels:
		in.tuned = true
		threshold, from = learned.Threshold, fmt.Sprintf("tuned from %d outcomes", learned.Labels)
		if learned.NotEnough {
			from += ", too few of which were accepted"
			in.MaxInline = min(in.MaxInline, inlineIfNotEnough)
		}
	}
	in.Threshold, in.ThresholdFrom = &threshold, from
}

// thresholdFor returns the threshold for a finding. One that was tuned hides nothing severe,
// and nothing of a protected category, that the default shows.
func (in *Input) thresholdFor(f *precedent.Finding) int {
	if isSevere(f.Severity) || f.Category.Protected() {
		return in.severeThreshold()
	}
	return *in.Threshold
}

func (in *Input) severeThreshold() int {
	if in.tuned {
		return min(*in.Threshold, DefaultThreshold)
	}
	return *in.Threshold
}

// refit changes the confidences of findings that no analyzer proved by what the team accepted
// before. It hides nothing severe and nothing of a protected category.
func (in *Input) refit(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		if !f.Live() || f.Analyzer {
			continue
		}
		before := f.Confidence
		f.Confidence = in.refitted(f)
		if f.Refit = f.Confidence - before; f.Refit != 0 {
			f.Trail = append(f.Trail, precedent.Decision{
				Step: "refit", Text: fmt.Sprintf("%d after what the team accepted of %d findings", f.Confidence,
					in.Recall.Learned.Curve.Labels), Delta: f.Refit,
			})
		}
	}
}

// refitted returns the confidence of a finding after the refit.
func (in *Input) refitted(f *precedent.Finding) int {
	now := capped(f, in.Recall.Learned.Curve.Apply(f.Confidence))
	if isSevere(f.Severity) || f.Category.Protected() {
		now = max(now, min(f.Confidence, in.severeThreshold()))
	}
	return now
}
