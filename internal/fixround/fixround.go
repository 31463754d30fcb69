// Package fixround has an engine address the threads of a pull request, or resolve the conflicts of
// a merge, and decides whether what it changed may be committed.
//
// The engine and everything that it read count as hostile. It edits a private copy of a tree
// ([Copy]), which has no links, no .git and no files that configure agents. What it changed is
// found by comparing the copy with what was put there, never from what it says; then path, kind,
// size and content of each change are checked ([Copy.Changes]). One forbidden change refuses all.
package fixround

import (
	"fmt"
	"strings"
)

// Trailer is the key of the line of a commit message that names the review or the round that made the commit.
const Trailer = "Precedent-Review"

// Name and Email are the author and committer of the commits, whichever account pushes them. The
// address leads nowhere.
const (
	Name  = "precedent"
	Email = "precedent@users.noreply.invalid"
)

// Message returns the message of a commit. Nothing in it comes from a model or from a person, so
// that it cannot steer CI or a forge.
func Message(subject, id string) string { return subject + "\n\n" + Trailer + ": " + id + "\n" }

// Own returns the id in the trailer of a commit with this message and committer's address, and
// whether the commit is one of ours by its looks. Anybody can write such a commit: that it is ours
// only means that no other round is needed for it, never that it is trusted.
func Own(message, committer string) (id string, ok bool) {
	if committer != Email {
		return "", false
	}
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	id, ok = strings.CutPrefix(lines[len(lines)-1], Trailer+": ")
	return id, ok && id != ""
}

// Limits bound what a round may change. They come from the policy of the base commit.
type Limits struct {
	LockFiles bool // may be changed
	Files     int
	Lines     int // added and removed
}

// RefusalError is why a change may not be committed. It is for people; paths in it are made printable.
type RefusalError struct{ Reasons []string }

func (r *RefusalError) Error() string { return strings.Join(r.Reasons, "; ") }

// maxReasons bounds the reasons that a refusal lists.
const maxReasons = 10

// refusal collects reasons.
type refusal struct {
	reasons []string
	more    int
}

func (r *refusal) add(format string, args ...any) {
	if len(r.reasons) == maxReasons {
		r.more++
		return
	}
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

// err returns the refusal; nil if there is no reason.
func (r *refusal) err() error {
	if len(r.reasons) == 0 {
		return nil
	}
	if r.more > 0 {
		r.reasons = append(r.reasons, fmt.Sprintf("and %d more reasons", r.more))
	}
	return &RefusalError{r.reasons}
}
