package forge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/precedent-dev/precedent"
)

// NotPushable is the answer of Forge.Pushable for a branch that the token may not push to.
func NotPushable(repo precedent.Repo, branch, why string) Unsupported {
	return Unsupported(fmt.Sprintf("cannot push to %q of %s: %s", branch, repo, why))
}

// maxName bounds the name of an owner or a repository, in bytes.
const maxName = 100

// IsName reports whether a name can be that of an owner or a repository, and is a single element of a path.
func IsName(s string) bool {
	const valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
	return s != "" && len(s) <= maxName && strings.Trim(s, valid) == "" && s != "." && s != ".."
}

// IsLogin reports whether a name can be that of an account. Those of bots have the suffix [bot].
func IsLogin(s string) bool { return IsName(strings.TrimSuffix(s, "[bot]")) }

// CheckRepo refuses a repository on another host, and names that would change the path of a request.
func CheckRepo(software, host string, r precedent.Repo) error {
	for _, s := range []string{r.Owner, r.Name} {
		if !IsName(s) {
			return &Error{
				Kind: KindRefused, Msg: fmt.Sprintf("%q is not a valid name of an owner or a repository on %s", s, software),
			}
		}
	}
	if r.Host != host {
		return &Error{
			Kind: KindRefused, Msg: fmt.Sprintf("%s is not on %s", r, host),
			Hint: "set forge in the configuration file, or pass --forge",
		}
	}
	return nil
}

// CutBody limits a text to MaxBody bytes, and reports whether it was cut.
func CutBody(s string) (precedent.Untrusted, bool) {
	if len(s) <= MaxBody {
		return precedent.Untrusted(s), false
	}
	end := MaxBody
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return precedent.Untrusted(s[:end]), true
}

// SameText tells whether a forge shows the text that was sent: some change line ends and trim it.
func SameText(shown, sent string) bool {
	plain := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return plain(shown) == plain(sent)
}

// KindOf returns the kind of an error of a forge; empty for another error.
func KindOf(err error) ErrorKind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// IsPartial reports whether an error says only that there is more than was read.
func IsPartial(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == KindTooLarge && e.Status == 0
}

// IncompleteComment is why a comment does not make sense.
const IncompleteComment = "a comment has no id or no time"

// IsIncomplete reports whether a forge told too little of a comment.
func IsIncomplete(m Comment) bool { return m.ID.Number() <= 0 || m.At.IsZero() }

// SortComments sorts comments by time and removes duplicates: pages shift while they are read.
func SortComments(all []Comment) []Comment {
	slices.SortStableFunc(all, func(a, b Comment) int { return cmp.Or(a.At.Compare(b.At), a.ID.Compare(b.ID)) })
	seen := map[CommentRef]bool{}
	return slices.DeleteFunc(all, func(m Comment) bool {
		key := CommentRef{Kind: m.Kind, ID: m.ID}
		again := seen[key]
		seen[key] = true
		return again
	})
}

// SortRepositories sorts a list, each once. Of more than MaxRepositories it returns that many and a
// KindTooLarge error.
func SortRepositories(doing string, all []precedent.Repo) ([]precedent.Repo, error) {
	slices.SortFunc(all, func(a, b precedent.Repo) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Name, b.Name))
	})
	all = slices.Compact(all)
	if len(all) <= MaxRepositories {
		return all, nil
	}
	return all[:MaxRepositories], &Error{
		Kind: KindTooLarge, Msg: fmt.Sprintf("%s: only the first %d of %d are used", doing, MaxRepositories, len(all)),
		Hint: "list the repositories in the configuration",
	}
}
