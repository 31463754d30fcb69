package match

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent"
)

// Earlier finds new findings that are known ones whose surroundings changed, and with them the fingerprint:
// they flag the same line of the same file, in the same category and in similar words, as a known finding
// that was not found again under its own fingerprint. It returns the known finding by the fingerprint of the
// new one. Each is used once, the most similar pair first. former maps the path of a renamed file to its old
// path. stands reports whether a known finding is still at its place, on another line than a new one; nil if none is. A
// finding without a place stands nowhere, so that it is never another one.
func Earlier(found, known []*precedent.Finding, former map[string]string,
	stands func(known, found *precedent.Finding) bool,
) map[string]*precedent.Finding {
	again := map[string]bool{} // fingerprints
	for _, f := range found {
		again[f.Fingerprint] = true
	}
	type spot struct{ path, category, line string }
	at := map[spot][]*precedent.Finding{}
	exact := map[string]bool{}
	for _, k := range known {
		exact[k.Fingerprint] = true
		if line := Flagged(k.Quote); line != "" && !again[k.Fingerprint] && k.Place != "" {
			s := spot{k.Path, string(k.Category), line}
			at[s] = append(at[s], k)
		}
	}
	type candidate struct {
		fingerprint string
		known       *precedent.Finding
		similarity  float64
	}
	var candidates []candidate
	for _, f := range found {
		if exact[f.Fingerprint] || f.Place == "" {
			continue
		}
		line := Flagged(f.Quote)
		there := at[spot{f.Path, string(f.Category), line}]
		if old := former[f.Path]; old != "" && old != f.Path {
			there = slices.Concat(there, at[spot{old, string(f.Category), line}])
		}
		for _, k := range there {
			if s := Similarity(f, k); s >= Overlap && (stands == nil || !stands(k, f)) {
				candidates = append(candidates, candidate{f.Fingerprint, k, s})
			}
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.similarity, b.similarity),
			cmp.Compare(a.known.Fingerprint, b.known.Fingerprint), cmp.Compare(a.fingerprint, b.fingerprint))
	})
	taken, used := map[string]*precedent.Finding{}, map[string]bool{}
	for _, c := range candidates {
		if taken[c.fingerprint] == nil && !used[c.known.Fingerprint] {
			taken[c.fingerprint] = c.known
			used[c.known.Fingerprint] = true
		}
	}
	return taken
}
