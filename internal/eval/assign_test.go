package eval

import (
	"testing"

	"pgregory.net/rapid"
)

// TestAssignIsBest compares matchings with the best of all there are.
func TestAssignIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		candidates, marks := rapid.IntRange(0, 7).Draw(t, "candidates"), rapid.IntRange(2, 6).Draw(t, "marks")
		var edges []edge
		cost := map[[2]int]int{}
		for a := range candidates {
			for b := range marks {
				if c := rapid.IntRange(-6, 9).Draw(t, "cost"); c >= 0 { // else they do not match
					edges = append(edges, edge{a, b, c})
					cost[[2]int{a, b}] = c
				}
			}
		}
		shuffled := rapid.Permutation(edges).Draw(t, "edges")
		got := assign(candidates, marks, shuffled)
		if len(got) != candidates {
			t.Fatalf("%d answers for %d candidates", len(got), candidates)
		}
		used := map[int]bool{}
		size, sum := 0, 0
		for a, b := range got {
			if b < 0 {
				continue
			}
			c, ok := cost[[2]int{a, b}]
			if !ok || used[b] {
				t.Fatalf("candidate %d has mark %d, which is not for it or taken: %v", a, b, got)
			}
			used[b] = true
			size++
			sum += c
		}
		if wantSize, wantSum := best(candidates, marks, cost, 0, 0); size != wantSize || sum != wantSum {
			t.Fatalf("%d pairs that cost %d, want %d that cost %d: %v", size, sum, wantSize, wantSum, got)
		}
	})
}

// best tries every matching of the candidates from a on with the marks that are not taken, a set of bits.
func best(candidates, marks int, cost map[[2]int]int, a, taken int) (size, sum int) {
	if a == candidates {
		return 0, 0
	}
	size, sum = best(candidates, marks, cost, a+1, taken)
	for b := range marks {
		c, ok := cost[[2]int{a, b}]
		if !ok || taken&(1<<b) != 0 {
			continue
		}
		s, n := best(candidates, marks, cost, a+1, taken|1<<b)
		if s++; s > size || s == size && n+c < sum {
			size, sum = s, n+c
		}
	}
	return size, sum
}
