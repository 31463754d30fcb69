package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShortID is the beginning of an object id, for people.
func ShortID(id string) string { return id[:min(len(id), 12)] }

// ShortHash is the beginning of the hash of a text, in hexadecimal digits.
func ShortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// Quoted is a text of ours as code.
func Quoted(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
