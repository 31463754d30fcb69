package text

import "math/bits"

// maxRatio limits the tokens that Ratio compares: longer lines are data.
const maxRatio = 4096

// Ratio is the share of two token sequences that is common to both in the same order, 0 to 1: twice the
// length of their longest common subsequence, divided by the sum of their lengths. Two empty sequences are
// equal. Only the first 4,096 tokens of each are compared.
func Ratio(a, b []string) float64 {
	a, b = a[:min(len(a), maxRatio)], b[:min(len(b), maxRatio)]
	all := len(a) + len(b)
	if all == 0 {
		return 1
	}
	common := 0
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
		common++
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
		common++
	}
	return 2 * float64(common+lcs(a, b)) / float64(all)
}

// lcs is the length of the longest common subsequence, 64 columns of the table
// at a time (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
func lcs(a, b []string) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) <= 64 {
		return lcsShort(a, b)
	}
	words := (len(a) + 63) / 64
	where := make(map[string][]uint64, len(a)) // the positions of each token in a
	for i, t := range a {
		m := where[t]
		if m == nil {
			m = make([]uint64, words)
			where[t] = m
		}
		m[i/64] |= 1 << (i % 64)
	}
	row := make([]uint64, words) // a zero is a column at which the length grows
	for i := range row {
		row[i] = ^uint64(0)
	}
	for _, t := range b {
		m := where[t]
		if m == nil {
			continue
		}
		carry := uint64(0)
		for i, v := range row {
			u := v & m[i]
			var sum uint64
			sum, carry = bits.Add64(v, u, carry)
			row[i] = sum | (v &^ u)
		}
	}
	n := 0
	for i, v := range row {
		if rest := len(a) - 64*i; rest < 64 {
			v |= ^uint64(0) << rest
		}
		n += bits.OnesCount64(^v)
	}
	return n
}

// lcsShort is lcs for an a of at most 64 tokens, as in a line of code: it needs one
// word, and no table of positions.
func lcsShort(a, b []string) int {
	row := ^uint64(0)
	for _, t := range b {
		places := uint64(0)
		for i := range a {
			if a[i] == t {
				places |= 1 << i
			}
		}
		u := row & places
		row = (row + u) | (row &^ u)
	}
	return bits.OnesCount64(^row & (^uint64(0) >> (64 - len(a))))
}
