package memory

import (
	"cmp"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

// sameRemark is the similarity of title and body from which a finding on a line
// that an earlier one flagged is the same finding: the figure that the merge
// stage has for overlapping findings.
const sameRemark = 0.55

// Match recognises findings whose surroundings changed, and with them their
// fingerprint: one that flags the same line of the same file, in the same
// category and in similar words, as an earlier one that this run did not find
// again exactly, is that one, and takes its id and fingerprint. Each earlier
// finding is taken once, the most similar pair first.
//
// Call it when fingerprints are known and secrets are out of the quotes, and
// before Hush, so that a dismissal follows its finding.
func (r Recall) Match(findings []precedent.Finding) []precedent.Finding {
	out := slices.Clone(findings)
	exact := map[string]bool{}
	for _, f := range out {
		exact[f.Fingerprint] = true
	}
	taken := map[string]store.Known{} // by the fingerprint of the new one
	used := map[string]bool{}
	for _, p := range r.pairs(out, exact) {
		if _, done := taken[p.fingerprint]; !done && !used[p.earlier.Fingerprint] {
			taken[p.fingerprint] = p.earlier
			used[p.earlier.Fingerprint] = true
		}
	}
	renamed := map[string]string{} // ids
	for i := range out {
		f := &out[i]
		earlier, ok := taken[f.Fingerprint]
		if !ok || f.Fingerprint == "" {
			continue
		}
		renamed[f.ID] = earlier.ID
		f.Trail = append(slices.Clip(f.Trail), precedent.Decision{
			Step: "merge", Says: "it is a finding of an earlier review whose surroundings changed, and keeps that one's id", By: earlier.ID,
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

// pair is a new fingerprint and an earlier finding that may be the same.
type pair struct {
	fingerprint string
	earlier     store.Known
	similarity  float64
}

// pairs returns all pairs that are similar enough, the most similar first.
func (r Recall) pairs(findings []precedent.Finding, exact map[string]bool) []pair {
	type spot struct{ path, category, line string }
	earlier := map[spot][]store.Known{}
	for _, k := range r.Known {
		if line := flagged(k.Quote); line != "" && !exact[k.Fingerprint] {
			at := spot{k.Path, string(k.Category), line}
			earlier[at] = append(earlier[at], k)
		}
	}
	var pairs []pair
	for _, f := range findings {
		if _, known := r.Known[f.Fingerprint]; known || f.Fingerprint == "" {
			continue
		}
		line := flagged(f.Quote)
		candidates := earlier[spot{f.Path, string(f.Category), line}]
		if former := r.Former[f.Path]; former != "" && former != f.Path {
			candidates = slices.Concat(candidates, earlier[spot{former, string(f.Category), line}])
		}
		if len(candidates) == 0 {
			continue
		}
		words := text.NewVector(f.Title + "\n" + f.Body)
		for _, k := range candidates {
			if s := text.Cosine(words, text.NewVector(k.Title+"\n"+k.Body)); s >= sameRemark {
				pairs = append(pairs, pair{f.Fingerprint, k, s})
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(
			cmp.Compare(b.similarity, a.similarity),
			cmp.Compare(a.earlier.Fingerprint, b.earlier.Fingerprint),
			cmp.Compare(a.fingerprint, b.fingerprint))
	})
	return pairs
}

// flagged is the line that a quote flags, which is its first, as Place compares it.
func flagged(quote string) string {
	line, _, _ := strings.Cut(quote, "\n")
	return text.Collapse(line)
}
