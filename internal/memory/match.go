package memory

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// Match recognises findings whose surroundings changed, and with them their
// fingerprint: one that flags the same line of the same file, in the same
// category and in similar words, as an earlier one that this run did not find
// again exactly, is that one, and takes its id and fingerprint. Each earlier
// finding is taken once, the most similar pair first.
//
// Call it when fingerprints are known and secrets are out of the quotes, and
// before Suppress, so that a dismissal follows its finding.
func (r Recall) Match(findings []precedent.Finding) []precedent.Finding {
	out := slices.Clone(findings)
	var found, known []*precedent.Finding
	for i := range out {
		found = append(found, &out[i])
	}
	for _, k := range r.Known {
		known = append(known, &k.Finding)
	}
	taken := match.Earlier(found, known, r.Former)
	renamed := map[string]string{} // ids
	for i := range out {
		f := &out[i]
		earlier, ok := taken[f.Fingerprint]
		if !ok || f.Fingerprint == "" {
			continue
		}
		renamed[f.ID] = earlier.ID
		f.Trail = append(slices.Clip(f.Trail), precedent.Decision{
			Step: "merge", Text: "it is a finding of an earlier review whose surroundings changed, and keeps that one's id", By: earlier.ID,
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
