package thread

import "slices"

// maxDepth bounds how often the lines between two anchors are aligned by anchors of their own.
const maxDepth = 64

// alignment is the common order of two files: lines that occur once in both are anchors, and equal lines next to them
// follow. What is left is not aligned: findMoved looks for it.
type alignment struct {
	a, b []int // a number for each line; equal lines have equal numbers
	to   []int // for each line of a, its line of b; -1 for none
}

// anchor is a line with its number of occurrences and its index in each of two ranges.
type anchor struct{ inA, inB, a, b int }

// align returns, for each line of a, the index of the line of b that it became,
// or -1. The indexes grow.
func align(a, b []int) []int {
	al := alignment{a: a, b: b, to: make([]int, len(a))}
	for i := range al.to {
		al.to[i] = -1
	}
	al.between(0, len(a), 0, len(b), 0)
	return al.to
}

// between aligns a range of each file.
func (al *alignment) between(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && al.a[a0] == al.b[b0] {
		al.to[a0] = b0
		a0, b0 = a0+1, b0+1
	}
	for a0 < a1 && b0 < b1 && al.a[a1-1] == al.b[b1-1] {
		a1, b1 = a1-1, b1-1
		al.to[a1] = b1
	}
	anchors := al.anchors(a0, a1, b0, b1)
	if len(anchors) == 0 || depth == maxDepth {
		return
	}
	for _, at := range anchors {
		al.to[at.a] = at.b
		al.between(a0, at.a, b0, at.b, depth+1)
		a0, b0 = at.a+1, at.b+1
	}
	al.between(a0, a1, b0, b1, depth+1)
}

// anchors returns the lines that occur once in each range, in the longest common order.
func (al *alignment) anchors(a0, a1, b0, b1 int) []anchor {
	first := map[int]anchor{}
	for i := a0; i < a1; i++ {
		s := first[al.a[i]]
		s.inA, s.a = s.inA+1, i
		first[al.a[i]] = s
	}
	for i := b0; i < b1; i++ {
		if s, ok := first[al.b[i]]; ok {
			s.inB, s.b = s.inB+1, i
			first[al.b[i]] = s
		}
	}
	var once []anchor
	for i := a0; i < a1; i++ {
		if s := first[al.a[i]]; s.inA == 1 && s.inB == 1 {
			once = append(once, s)
		}
	}
	return longest(once)
}

// longest returns the longest run of anchors, which are sorted by a, that are also in the
// order of b: patience sorting.
func longest(spots []anchor) []anchor {
	var piles []int // index in spots of the top of each pile
	before := make([]int, len(spots))
	for i, s := range spots {
		n, _ := slices.BinarySearchFunc(piles, s.b, func(p, b int) int { return spots[p].b - b })
		before[i] = -1
		if n > 0 {
			before[i] = piles[n-1]
		}
		if n == len(piles) {
			piles = append(piles, i)
		} else {
			piles[n] = i
		}
	}
	run := make([]anchor, len(piles))
	if len(piles) == 0 {
		return run
	}
	for i, n := piles[len(piles)-1], len(piles)-1; i >= 0; i, n = before[i], n-1 {
		run[n] = spots[i]
	}
	return run
}
