package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// HotspotFrom is the number of earlier findings from which a file is a hotspot.
const HotspotFrom = 2

// countByFile counts findings by file, sorted by path. Each finding counts once, however often
// it was seen.
func countByFile(findings []store.Known, dismissals []precedent.Dismissal) []precedent.Hotspot {
	dismissed := map[string]bool{}
	for _, j := range dismissals {
		dismissed[j.Fingerprint] = true
	}
	byPath := map[string]precedent.Hotspot{}
	for _, k := range findings {
		h, seen := byPath[k.Path]
		if !seen {
			h = precedent.Hotspot{Path: k.Path, TopSeverity: k.Severity}
		}
		h.Findings++
		if dismissed[k.Fingerprint] {
			h.Dismissed++
		}
		if i, has := slices.BinarySearch(h.Categories, k.Category); !has {
			h.Categories = slices.Insert(h.Categories, i, k.Category)
		}
		if k.Severity.Rank() < h.TopSeverity.Rank() {
			h.TopSeverity = k.Severity
		}
		if k.Last.After(h.LastSeen) {
			h.LastSeen = k.Last
		}
		byPath[k.Path] = h
	}
	var files []precedent.Hotspot
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		files = append(files, byPath[path])
	}
	return files
}

// hottest returns the hotspots among files, sorted by number of findings, worst severity and
// path.
func hottest(files []precedent.Hotspot) []precedent.Hotspot {
	hot := slices.DeleteFunc(slices.Clone(files), func(h precedent.Hotspot) bool { return h.Findings < HotspotFrom })
	slices.SortFunc(hot, byHeat)
	return hot
}

func byHeat(a, b precedent.Hotspot) int {
	return cmp.Or(
		cmp.Compare(b.Findings, a.Findings),
		cmp.Compare(a.TopSeverity.Rank(), b.TopSeverity.Rank()),
		cmp.Compare(a.Path, b.Path))
}
