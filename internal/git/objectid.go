package git

import "strings"

// IsObjectID tells whether s is the whole name of an object: 40 hexadecimal
// digits in lower case, or 64 where the repository uses SHA-256.
func IsObjectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
