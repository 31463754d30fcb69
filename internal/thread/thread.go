// Package thread follows the conversations that posted findings open: it puts
// them together from what a forge says and what is stored, carries them to a new
// head, and says what became of each finding, with the proof.
//
// Everything in a conversation was written by people whom nobody vouches for.
// Whose word counts is decided by the numbers of accounts and by permissions
// that are asked live, never by names. What people say is read by fixed rules
// that know few sentences and take no doubtful one: a "no" that was missed leaves
// a thread open, one that was invented hides findings.
package thread

import (
	"cmp"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Bounds of what is read of conversations. More than that is not looked at: a
// flood of words hides a person's answer at worst, and settles nothing.
const (
	maxAsked    = 50      // people whose permission is asked
	maxMessages = 200     // of one thread, the newest
	maxMessage  = 8 << 10 // of one message, in characters
)

// listLag is how long a forge may take to list a comment that it has: one that
// is younger and not there was not deleted.
const listLag = time.Minute

// Identity says who we are on a pull request.
type Identity struct {
	Number int // of the pull request
	Me     forge.Person
	// Read is comment.Writer's, of this pull request.
	Read func(body string) (comment.Marker, bool)
	// Signed tells that markers carry a signature that Read checks.
	Signed bool
	// Partial tells that the comments are not all: one that is missing proves nothing.
	Partial bool
	Now     time.Time
}

// readMarker reads a comment as one of ours. An account without a number is nobody.
func (s Identity) readMarker(c forge.Comment) (comment.Marker, bool) {
	if s.Me.ID == "" || c.Author.ID != s.Me.ID {
		return comment.Marker{}, false
	}
	return s.Read(string(c.Body))
}

// Assemble returns the threads of the pull request in the order in which they
// were opened: those that stand in comments, those that are stored and whose
// comment is gone, and those that stand in the summary alone, which the store
// knows. There is one a fingerprint.
//
// A comment opens a thread if it is inline, Me wrote it, and it carries the mark
// of a finding; without signatures the store must know its thread or its number
// too, or nothing at all of the pull request. mayWrite tells whether a person has
// write permission now. It is asked about people who spoke in a thread, once each.
//
// The states: resolved if a person closed the conversation, one with write
// permission if its finding is of a protected category, and wont_fix if a
// person with write permission declined it or if the comment was deleted; both
// are final, but for a person who opens the conversation again. Addressed is what
// we closed, or found fixed and have yet to close; pending_response is one in which
// a person wrote and that nobody has looked at since; open is any other.
func Assemble(
	comments []forge.Comment, convs []forge.Thread, stored []precedent.Thread, self Identity, mayWrite func(forge.Person) bool,
) []precedent.Thread {
	a := assembly{self: self, stored: stored, byID: map[precedent.ForgeID]int{}, convOf: map[precedent.ForgeID]int{}, convs: convs, asked: map[precedent.ForgeID]bool{}, mayWrite: mayWrite}
	a.comments = slices.Clone(comments)
	slices.SortStableFunc(a.comments, func(x, y forge.Comment) int { return cmp.Or(x.At.Compare(y.At), x.ID.Compare(y.ID)) })
	for i, c := range a.comments {
		if c.Kind == forge.OnLine {
			a.byID[c.ID] = i
		}
	}
	for i, conv := range convs {
		for _, id := range conv.Comments {
			a.convOf[id] = i
		}
	}
	a.openThreads()
	a.addMessages()
	for i := range a.threads {
		a.decideState(&a.threads[i])
	}
	slices.SortStableFunc(a.threads, func(x, y precedent.Thread) int {
		return cmp.Or(x.OpenedAt.Compare(y.OpenedAt), cmp.Compare(x.ID, y.ID))
	})
	return a.threads
}
