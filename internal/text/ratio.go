package text

import "math/bits"

// MaxRatio limits the tokens that Ratio compares: longer lines are data.
const MaxRatio = 64

// Ratio is the share of two token sequences that is common to both in the same order, 0 to 1: twice the
// length of their longest common subsequence, divided by the sum of their lengths. Two empty sequences are
// equal. Only the first 64 tokens of each are compared.
func Ratio(a, b []string) float64 {
	a, b = a[:min(len(a), MaxRatio)], b[:min(len(b), MaxRatio)]
	if len(a)+len(b) == 0 {
		return 1
	}
	return 2 * float64(lcs(a, b)) / float64(len(a)+len(b))
}

// lcs is the length of the longest common subsequence. A zero in row is a column of the table at which the length grows
// (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004).
func lcs(a, b []string) int {
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
