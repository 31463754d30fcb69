package text

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Alike returns a form of a name that is equal for names which a file system, or a reader, may take
// for the same one: those that differ in case, in the normal form of Unicode, or in letters that
// are compatible, such as the long s and s.
func Alike(name string) string {
	return norm.NFKC.String(strings.ToLower(strings.ToUpper(norm.NFKC.String(name))))
}
