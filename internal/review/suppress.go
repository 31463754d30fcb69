package review

import (
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
)

// focusDelta is what a finding in a focus category of the policy gains, in percent
// points.
const focusDelta = 10

// suppress applies the policy and people's dismissals.
func suppress(fs []precedent.Finding, p precedent.Policy, rejections []precedent.Rejection, now time.Time, threshold int, judge memory.Judge) []precedent.Finding {
	for i := range fs {
		f := &fs[i]
		for _, glob := range p.Ignore {
			if guide.Match(glob, f.Path) {
				f.Drop("suppress", precedent.IgnoredPath, "", "the repository's policy ignores %s", glob)
			}
		}
		if f.Live() && !f.Analyzer && slices.Contains(p.Focus, f.Category) {
			f.Confidence = capped(f, f.Confidence+focusDelta)
			f.Trail = append(f.Trail, precedent.Decision{
				Step: "suppress", Text: "the repository's policy focuses on " + string(f.Category), Delta: focusDelta,
			})
		}
	}
	fs = memory.Suppress(fs, rejections, now, threshold, judge)
	for i := range fs {
		f := &fs[i]
		for _, floor := range p.Floors {
			if !f.Severity.AtLeast(floor.Severity) && !f.Category.Protected() && guide.Match(floor.Paths, f.Path) {
				f.Drop("suppress", precedent.BelowThreshold, "", "the repository's policy shows nothing below %s in %s", floor.Severity, floor.Paths)
			}
		}
	}
	return fs
}
