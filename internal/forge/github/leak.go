package github

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// leakWindow is how many bytes of a token in a row give it away.
const leakWindow = 8

// leaks tells whether the text holds part of the secret: a window of 8 bytes, as
// it is, reversed, in hexadecimal or in base64.
func leaks(text, secret string) bool {
	lower := strings.ToLower(text)
	// Both alphabets of base64 are made one.
	alphabet := strings.NewReplacer("-", "+", "_", "/")
	flat := alphabet.Replace(text)
	for i := 0; i+leakWindow <= len(secret); i++ {
		window := []byte(secret[i : i+leakWindow])
		backward := slices.Clone(window)
		slices.Reverse(backward)
		for _, w := range [][]byte{window, backward} {
			if strings.Contains(text, string(w)) || strings.Contains(lower, hex.EncodeToString(w)) {
				return true
			}
			// Three bytes make four characters, so a window begins at one of three
			// offsets; the characters at its ends depend on its neighbours.
			for offset := range 3 {
				coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, offset), w...))
				first := (offset*8 + 5) / 6
				last := (offset + leakWindow) * 8 / 6
				if strings.Contains(flat, coded[first:last]) {
					return true
				}
			}
		}
	}
	return false
}
