package review

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
)

// choose drops findings below the threshold and folds minor ones, unless the policy shows
// them, sets how each one is shown, and sorts them: live ones first, then by confidence,
// severity and line. Only lines of the forge's diff can have comments. The limit of
// inline findings hides nothing: those beyond it move to the summary.
func choose(fs []precedent.Finding, in *Input, commentable func(*precedent.Finding) bool) {
	for i := range fs {
		f := &fs[i]
		if !f.Live() {
			continue
		}
		why := in.minorWhy(f)
		switch {
		case why != "" && in.Policy.Minor == precedent.MinorShow:
			f.Note("select", "minor: %s; the repository's policy shows it", why)
		case why != "" && in.Policy.Minor == precedent.MinorOff:
			f.Drop("select", precedent.BelowThreshold, "", "minor: %s; the repository's policy shows no minor findings", why)
		case why != "":
			f.Drop("select", precedent.Minor, "", "minor: %s", why)
			f.Placement = precedent.Collapsed
		case f.Confidence < in.thresholdFor(f):
			f.Drop("select", precedent.BelowThreshold, "", "confidence %d is below the threshold of %d (%s)", f.Confidence,
				in.thresholdFor(f), in.ThresholdFrom)
		}
	}
	slices.SortStableFunc(fs, func(a, b precedent.Finding) int {
		return cmp.Or(
			preferFirst(a.Live(), b.Live()),
			-cmp.Compare(a.Confidence, b.Confidence),
			cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
			byContent(&a, &b),
		)
	})
	inline := 0
	for i := range fs {
		f := &fs[i]
		if !f.Live() {
			continue
		}
		switch {
		case !commentable(f):
			f.Placement = precedent.WholeFile
			f.Note("select", "shown on the file: it is not about a line of the diff")
		case inline >= in.MaxInline:
			f.Placement = precedent.Summary
			f.Note("select", "shown in the summary: %d others are more important", in.MaxInline)
		default:
			f.Placement = precedent.Inline
			inline++
			if threshold := in.thresholdFor(f); f.Confidence >= threshold {
				f.Note("select", "shown: confidence %d reaches the threshold of %d (%s)", f.Confidence, threshold, in.ThresholdFrom)
			}
		}
	}
}

// commentable reports whether the lines of a finding can have a comment, and records it. A range that leaves its hunk
// is shortened, unless a suggestion replaces it.
func (in *Input) commentable(f *precedent.Finding) (ok bool) {
	if f.Basis != nil {
		defer func() { f.Basis.Commentable = ok }()
	}
	file := cmp.Or(in.ForgeChange, in.Change).File(f.Path)
	if f.Start == 0 || file == nil {
		return false
	}
	h := file.HunkAt(f.Side, f.Start)
	switch {
	case h < 0:
		return false
	case file.Hunks[h].Holds(f.Side, f.End):
		return true
	case f.Suggestion != "":
		return false
	}
	for f.End > f.Start && !file.Hunks[h].Holds(f.Side, f.End) {
		f.End--
	}
	return true
}
