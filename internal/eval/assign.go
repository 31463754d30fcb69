package eval

import "math"

// edge means that candidate a can be matched with mark b, at a cost; nearer is better.
type edge struct{ a, b, cost int }

// assign pairs candidates with marks one to one: as many pairs as possible and, among those solutions, one
// with the lowest total cost. It returns the mark of each candidate, -1 for none. Costs must not be negative.
//
// Each round finds the cheapest path that matches one more candidate (successive
// shortest paths, with Bellman-Ford because undoing a pair has a negative cost).
func assign(candidates, marks int, edges []edge) []int {
	of, held := unassigned(candidates), unassigned(marks) // the edge of each candidate, and of each mark
	for {
		dist, via := make([]int, marks), unassigned(marks) // the cheapest path to each mark, by its last edge
		for b := range dist {
			dist[b] = math.MaxInt
		}
		for changed := true; changed; {
			changed = false
			for i, e := range edges {
				from := 0
				if of[e.a] >= 0 { // a gives up its mark, which the path has reached
					own := edges[of[e.a]]
					if own.b == e.b || dist[own.b] == math.MaxInt {
						continue
					}
					from = dist[own.b] - own.cost
				}
				if d := from + e.cost; d < dist[e.b] {
					dist[e.b], via[e.b], changed = d, i, true
				}
			}
		}
		end := -1
		for b := range dist {
			if held[b] < 0 && dist[b] < math.MaxInt && (end < 0 || dist[b] < dist[end]) {
				end = b
			}
		}
		if end < 0 {
			break
		}
		for b := end; ; {
			e := via[b]
			before := of[edges[e].a]
			of[edges[e].a], held[b] = e, e
			if before < 0 {
				break
			}
			b = edges[before].b
		}
	}
	for a, e := range of {
		if e >= 0 {
			of[a] = edges[e].b
		}
	}
	return of
}

func unassigned(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = -1
	}
	return s
}
