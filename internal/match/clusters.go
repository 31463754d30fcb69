package match

import (
	"slices"

	"github.com/precedent-dev/precedent/internal/text"
)

// Clusters groups the titles of findings of different changes that are about one pattern: every
// two of a group are at least as similar as from, 0 to 1. It returns the indexes of each group,
// sorted, and titles without a like alone. The time is quadratic in the number of titles.
func Clusters(titles []string, from float64) [][]int {
	vectors := make([]text.Vector, len(titles))
	for i, t := range titles {
		vectors[i] = text.NewVector(t)
	}
	var edges []edge
	same := map[pair]bool{}
	for a := range vectors {
		for b := a + 1; b < len(vectors); b++ {
			if s := text.Cosine(vectors[a], vectors[b]); s >= from {
				edges = append(edges, edge{pair{a, b}, s})
				same[pair{a, b}] = true
			}
		}
	}
	slices.SortFunc(edges, bySimilarity)
	return cluster(len(titles), edges, same)
}
