package memory

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// Match recognizes findings whose fingerprint changed because neighbouring lines did. A new
// finding takes the id and fingerprint of an earlier one that this run did not find exactly,
// if it flags the same line of the same file in the same category in similar words. Each
// earlier finding is taken once, the most similar pairs first. One that still stands where it was is not taken: a
// dismissal of it must not hide the same line in another function.
//
// Call it after fingerprints are computed and quotes are redacted, and before Suppress, so
// that a dismissal follows its finding.
func (r Recall) Match(findings []precedent.Finding) []precedent.Finding {
	out := slices.Clone(findings)
	var found, known []*precedent.Finding
	for i := range out {
		found = append(found, &out[i])
	}
	for _, k := range r.Known {
		known = append(known, &k.Finding)
	}
	taken := match.Earlier(found, known, r.Former, r.Stands)
	renamed := map[string]string{} // ids
	for i := range out {
		f := &out[i]
		earlier, ok := taken[f.Fingerprint]
		if !ok || f.Fingerprint == "" {
			continue
		}
		renamed[f.ID] = earlier.ID
		f.Trail = append(slices.Clip(f.Trail), precedent.Decision{
			Step: "merge", Text: "same as a finding of an earlier review, whose neighbouring lines changed; it keeps that id",
			By: earlier.ID,
		})
		f.ID, f.Fingerprint = earlier.ID, earlier.Fingerprint
	}
	for i := range out {
		if id, ok := renamed[out[i].DroppedBy]; ok && out[i].Dropped == precedent.Duplicate {
			out[i].DroppedBy = id
		}
	}
	return out
}
