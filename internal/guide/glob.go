package guide

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits of a glob: the time to match one grows with its alternatives and double
// stars.
const (
	maxGlobBytes = 256
	maxGlobs     = 4 // alternatives, and double stars
)

// Match reports whether a policy's glob matches a path relative to the repository's
// top folder. As in ignore files, a glob without a slash matches a name in any
// folder, and one that ends in a slash matches everything in that folder, or the file of that
// path. So does the path of a folder. A glob that ParsePolicy would reject matches nothing.
func Match(glob, p string) bool {
	if CheckGlob(glob) != nil {
		return false
	}
	return match(glob, p)
}

func match(glob, p string) bool {
	if !strings.ContainsAny(glob, "*?[{") && AtOrBelow(glob, p) {
		return true
	}
	if !strings.Contains(glob, "/") {
		return doublestar.MatchUnvalidated(glob, path.Base(p)) || doublestar.MatchUnvalidated(glob, p)
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	return doublestar.MatchUnvalidated(glob, p)
}

// Literal returns a glob for one path, whose brackets and stars are no wildcards: names such as pages/[id].tsx have
// them. That of a name at the top ends in a slash, so that it does not match the same name in folders.
func Literal(p string) string {
	if !strings.Contains(p, "/") {
		p += "/"
	}
	return literal.Replace(p)
}

// Readable returns a glob for people to read: without the slash that Literal appends to a name at the top.
func Readable(glob string) string { return strings.TrimSuffix(glob, "/") }

var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]", "{", "[{]", "}", "[}]")

// CheckGlob returns what is wrong with a glob. Globs that leave the repository, or
// that could match more than they seem to, are rejected, never corrected.
func CheckGlob(s string) error {
	parts := strings.Split(s, "/")
	switch {
	case s == "" || len(s) > maxGlobBytes || !utf8.ValidString(s):
		return errors.New("a glob has 1 to 256 characters")
	case strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || len(s) > 1 && s[1] == ':':
		return errors.New("the glob must not leave the repository")
	case slices.Contains(parts, "..") || slices.Contains(parts, "."):
		return errors.New("the glob must not contain . or .. as a folder")
	case strings.ContainsAny(s, "\\\n\t"):
		return errors.New("the glob must not contain backslashes or line breaks")
	case strings.HasPrefix(s, "!"):
		return errors.New("the glob must not start with an exclamation mark")
	case strings.Count(s, "{") > maxGlobs || strings.Count(s, "**") > maxGlobs || strings.Contains(s, "***"):
		return errors.New("the glob has too many alternatives or double stars")
	case !doublestar.ValidatePattern(s):
		return errors.New("the brackets or braces do not match")
	}
	return nil
}

// AtOrBelow reports whether a file has the name, or is in the folder with it. Every file is
// below ".".
func AtOrBelow(name, file string) bool {
	name = path.Clean(name)
	return name == "." || file == name || strings.HasPrefix(file, name+"/")
}

// MatchesAll reports whether a glob matches every path, whatever its form.
func MatchesAll(glob string) bool {
	for _, p := range []string{"a", "Makefile", "x/y/z.go", ".h/q.txt", "src/main/java/Ω.java", "7"} {
		if !match(glob, p) {
			return false
		}
	}
	return true
}
