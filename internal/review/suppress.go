package review

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/memory"
)

// focusDelta is what a finding in a focus category of the policy gains, in percent
// points.
const focusDelta = 10

// suppress drops what the policy does not want and what people dismissed or do not want, before a
// verifier reads it.
func suppress(fs []precedent.Finding, p precedent.Policy, d *memory.Dismissals, judge memory.Judge) {
	for i := range fs {
		f := &fs[i]
		for _, glob := range p.Ignore {
			if guide.Match(glob, f.Path) {
				f.Drop("suppress", precedent.IgnoredPath, "", "the repository's policy ignores %s", glob)
			}
		}
	}
	d.Drop(fs, judge)
	for i := range fs {
		f := &fs[i]
		for _, floor := range p.Floors {
			if !f.Severity.AtLeast(floor.Severity) && !f.Category.Protected() && guide.Match(floor.Paths, f.Path) {
				f.Drop("suppress", precedent.BelowThreshold, "", "the repository's policy shows nothing below %s in %s",
					floor.Severity, floor.Paths)
			}
		}
	}
}

// weigh lets the policy's focus, people's dismissals and learnings change the confidence of scored
// findings.
func weigh(fs []precedent.Finding, p precedent.Policy, d *memory.Dismissals, threshold int) {
	for i := range fs {
		f := &fs[i]
		if f.Live() && !f.Analyzer && slices.Contains(p.Focus, f.Category) {
			f.Weigh(capped(f, f.Confidence+focusDelta), precedent.Decision{
				Step: "suppress",
				Text: "the repository's policy focuses on " + string(f.Category),
			})
		}
	}
	d.Raise(fs, capped)
	d.Lower(fs, threshold)
}
