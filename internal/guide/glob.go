package guide

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of a glob: matching one takes time that grows with its alternatives
// and its double stars.
const (
	maxGlobBytes = 256
	maxGlobs     = 4 // alternatives, and double stars
)

// Match tells whether a path, from the repository's top folder, is one that a
// policy's glob means. Like the ignore files people know, a glob without a
// slash means a name in any folder, and one that ends in a slash means all that
// is in that folder. A glob that ParsePolicy would refuse means nothing.
func Match(glob, p string) bool {
	if checkGlob(glob) != nil {
		return false
	}
	return match(glob, p)
}

func match(glob, p string) bool {
	if !strings.Contains(glob, "/") {
		return doublestar.MatchUnvalidated(glob, path.Base(p)) || doublestar.MatchUnvalidated(glob, p)
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return doublestar.MatchUnvalidated(glob, p)
}

// checkGlob says what is wrong with a glob. One that reaches outside the
// repository, or that could mean more than it seems to, is refused and never mended.
func checkGlob(s string) error {
	parts := strings.Split(s, "/")
	switch {
	case s == "" || len(s) > maxGlobBytes || !utf8.ValidString(s):
		return errors.New("a glob has 1 to 256 characters")
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || len(s) > 1 && s[1] == ':':
		return errors.New("the glob must not leave the repository")
	case slices.Contains(parts, "..") || slices.Contains(parts, "."):
		return errors.New("the glob must not hold . or .. as a folder")
	case strings.ContainsAny(s, "\\\n\t"):
		return errors.New("the glob must not hold backslashes or line ends")
	case strings.HasPrefix(s, "!"):
		return errors.New("a glob cannot be turned around")
	case strings.Count(s, "{") > maxGlobs || strings.Count(s, "**") > maxGlobs || strings.Contains(s, "***"):
		return errors.New("the glob has too many alternatives or double stars")
	case !doublestar.ValidatePattern(s):
		return errors.New("the brackets or braces do not fit")
	}
	return nil
}

// matchesAll tells whether a glob leaves nothing out, whatever its form.
func matchesAll(glob string) bool {
	for _, p := range []string{"a", "Makefile", "x/y/z.go", ".h/q.txt", "src/main/java/Ω.java", "7"} {
		if !match(glob, p) {
			return false
		}
	}
	return true
}
