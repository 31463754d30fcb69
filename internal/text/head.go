package text

import "strings"

// Head cuts text to at most n bytes, an ellipsis not counted, so that a line of
// megabytes costs nothing. It never cuts within a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + " …"
}
