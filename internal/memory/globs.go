package memory

import (
	"path"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/guide"
)

// maxWildcards is more than a glob needs that a person wrote for some files.
const maxWildcards = 8

// unfitGlob says why a learning cannot have its glob; empty if it can. Those that lower
// findings must name files: a glob for all of them would hide findings in files that nobody
// thought of.
func unfitGlob(l precedent.Learning) string {
	if l.Glob == "" {
		return ""
	}
	if err := guide.CheckGlob(l.Glob); err != nil {
		return err.Error()
	}
	if n := strings.Count(l.Glob, "*") + strings.Count(l.Glob, "?") + strings.Count(l.Glob, "["); n > maxWildcards {
		return "the glob has too many wildcards"
	}
	if l.Kind.Quieter() && guide.MatchesAll(l.Glob) {
		return "the glob matches every file; name the files"
	}
	return ""
}

// mayOverlap reports whether a file can be in both globs. It is true if it cannot tell.
func mayOverlap(a, b string) bool {
	if a == "" || b == "" || a == b || inFiles(a, b) || inFiles(b, a) {
		return true
	}
	if strings.Contains(a, "/") && strings.Contains(b, "/") {
		x, y := fixedFolder(a), fixedFolder(b)
		if x != "" && y != "" && !guide.AtOrBelow(x, y) && !guide.AtOrBelow(y, x) {
			return false
		}
	}
	x, y := path.Ext(a), path.Ext(b)
	plain := func(ext string) bool { return ext != "" && !strings.ContainsAny(ext, "*?[{/") }
	return !plain(x) || !plain(y) || x == y
}

// fixedFolder is the folder of a glob before its first wildcard.
func fixedFolder(glob string) string {
	if i := strings.IndexAny(glob, "*?[{"); i >= 0 {
		glob = glob[:i]
		i = strings.LastIndexByte(glob, '/')
		return strings.TrimSuffix(glob[:max(i, 0)], "/")
	}
	return strings.TrimSuffix(glob, "/")
}
