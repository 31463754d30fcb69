package git

import "strings"

// IsObjectID reports whether s is a full object id: 40 lower-case hexadecimal digits,
// or 64 in a SHA-256 repository.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
