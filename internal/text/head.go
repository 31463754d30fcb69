package text

import "strings"

// Head cuts text to at most n bytes, not counting the ellipsis, in constant time. It
// never cuts within a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
