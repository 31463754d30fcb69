// Package fixround asks an engine to address the threads of a pull request, and decides whether
// what it changed may be committed.
package fixround

import "strings"

// Trailer is the key of the line of a commit message that names the round that made the commit.
const Trailer = "Precedent-Review"

// Author is who commits: the account that pushes need not be the same.
const (
	AuthorName  = "precedent"
	AuthorEmail = "precedent@users.noreply.invalid"
)

// Own returns the id of the round that made a commit with this message and committer email, and
// whether it is one of ours. Anybody can write such a commit: it only says not to start another
// round for it, never that it is trusted.
func Own(message, committerEmail string) (review string, ok bool) {
	if committerEmail != AuthorEmail {
		return "", false
	}
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	return strings.CutPrefix(lines[len(lines)-1], Trailer+": ")
}
