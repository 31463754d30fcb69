package prompt

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// nonce derives the number that marks the blocks of a prompt from the texts in
// them: 16 hexadecimal digits that occur in none of them, in either case. Equal
// texts give equal numbers.
//
// It starts at a hash and counts up; the first number nearly always serves.
// Texts of n bytes hold at most n different runs of 16 digits and the numbers
// tried are all different, so it ends within n+1 steps, whatever the texts are.
func nonce(contents []string) string {
	h := sha256.New()
	for _, s := range contents {
		fmt.Fprintf(h, "%d\x00%s", len(s), s)
	}
	for n := binary.BigEndian.Uint64(h.Sum(nil)); ; n++ {
		s := fmt.Sprintf("%0*x", nonceLen, n)
		if !slices.ContainsFunc(contents, func(c string) bool { return strings.Contains(strings.ToLower(c), s) }) {
			return s
		}
	}
}

const nonceLen = 16

// fence puts a text between marks with the number, which the text must not contain.
func fence(nonce, kind, s string) string {
	return "<data-" + nonce + " kind=\"" + kind + "\">\n" + s + "\n</data-" + nonce + ">"
}

// Fence puts a text from outside, that is not part of a sheet, between marks that it cannot
// contain.
func Fence(kind, s string) string { return fence(nonce([]string{s}), kind, s) }
