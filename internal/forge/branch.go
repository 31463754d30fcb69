package forge

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent"
)

// maxBranch bounds the name of a branch, in bytes: forges store 255.
const maxBranch = 255

// IsBranch reports whether a name can be that of a branch and is safe as part of an address: it has
// none of the characters that git refuses, and no empty part or one that begins with a dot.
func IsBranch(s string) bool {
	if s == "" || len(s) > maxBranch || strings.HasPrefix(s, "-") || strings.ContainsAny(s, " ~^:?*[\\\x7f") || strings.Contains(s, "..") || strings.Contains(s, "@{") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' }) < 0
}

// NotPushable is the answer of Forge.Pushable for a branch that the token may not push to.
func NotPushable(repo precedent.Repo, branch, why string) Unsupported {
	return Unsupported(fmt.Sprintf("cannot push to %q of %s: %s", branch, repo, why))
}
