package match

import (
	"cmp"
	"slices"
)

// pair holds two indexes of Set.all, the smaller one first.
type pair struct{ a, b int }

type edge struct {
	pair
	similarity float64
}

func bySimilarity(a, b edge) int {
	return cmp.Or(-cmp.Compare(a.similarity, b.similarity), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
}

// cluster groups n things. It takes the edges in order and joins two groups if all
// pairs of their members are the same.
func cluster(n int, edges []edge, same map[pair]bool) [][]int {
	group := make([][]int, n) // of each thing; shared by its members
	for i := range group {
		group[i] = []int{i}
	}
	for _, e := range edges {
		ga, gb := group[e.a], group[e.b]
		if ga[0] == gb[0] || !allSame(ga, gb, same) {
			continue
		}
		joined := slices.Concat(ga, gb)
		slices.Sort(joined)
		for _, i := range joined {
			group[i] = joined
		}
	}
	var found [][]int
	for i, g := range group {
		if g[0] == i {
			found = append(found, g)
		}
	}
	return found
}

func allSame(as, bs []int, same map[pair]bool) bool {
	for _, a := range as {
		for _, b := range bs {
			if !same[pair{min(a, b), max(a, b)}] {
				return false
			}
		}
	}
	return true
}
