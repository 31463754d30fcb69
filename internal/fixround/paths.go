package fixround

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// forgeFolders hold what configures a forge: pipelines, templates, owners, bots.
var forgeFolders = []string{".github", ".gitea", ".forgejo", ".gitlab"}

// gitFiles configure git, in any folder.
var gitFiles = []string{".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig"}

// forbidden returns why a file at the path may not be added, changed or deleted; empty if it may.
// Neither case nor the form of letters matters, because some file systems and forges ignore them.
func forbidden(p string, l Limits) string {
	return cmp.Or(git.UnsafePath(p), odd(p), forbiddenName(p, l), forbiddenName(text.Alike(p), l))
}

// forbiddenName returns why a file of the name may not be changed, without regard to other forms of its letters.
func forbiddenName(p string, l Limits) string {
	parts := strings.Split(strings.ToLower(p), "/")
	base := parts[len(parts)-1]
	switch {
	case engine.Steering(p), guide.IsPolicyPath(p):
		return "it steers reviews or agents"
	case slices.Contains([]string{"codeowners", "owners", "owners_aliases"}, base):
		return "it names code owners"
	case diff.IsPipeline(p):
		return "it is a pipeline of CI, or configures a bot"
	case slices.Contains(forgeFolders, parts[0]):
		return "it configures the forge"
	case diff.IsHook(p):
		return "it is a hook, or configures an editor"
	case diff.IsManager(p):
		return "it makes a package manager or a build tool run programs"
	case slices.Contains(gitFiles, base):
		return "it configures git"
	case diff.IsLock(p) && !l.LockFiles:
		return "it is a lock file, and the policy does not allow to change those"
	case secret.Private(p):
		return "it holds credentials by its name"
	}
	return ""
}

// odd returns why a path may look different from what it is, or be a different one on another system.
func odd(p string) string {
	const longest = 500 // bytes
	switch {
	case len(p) > longest:
		return "its path is too long"
	case !utf8.ValidString(p), strings.ContainsFunc(p, func(r rune) bool {
		_, hidden := text.Hidden(r)
		return hidden || !unicode.IsPrint(r) || strings.ContainsRune("\\:*?\"<>|", r)
	}):
		return "its path has characters that are not allowed"
	}
	for part := range strings.SplitSeq(p, "/") {
		if strings.TrimRight(part, ". ") != part || strings.HasPrefix(part, "-") || strings.HasPrefix(part, " ") {
			return "its path has a part that begins or ends in an odd way"
		}
	}
	return ""
}

// folded is equal for paths that some file system takes for the same one.
func folded(p string) string { return text.Alike(path.Clean(p)) }
