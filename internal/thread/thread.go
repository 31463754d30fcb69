// Package thread follows the conversations about posted findings: it assembles
// them from the forge's comments and what is stored, relocates them to a new head,
// and determines the outcome of each finding, with the proof.
//
// Text in a conversation is not trusted. Whether a person's decision counts
// depends on the account id and its current permission, never on a name. Fixed
// rules recognize dismissals, and only explicit ones: a missed dismissal leaves a
// thread open, but a false one hides findings.
package thread

import (
	"cmp"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Limits for reading conversations. The rest is ignored: at worst a flood of text hides a
// person's answer.
const (
	maxAsked    = 50      // people whose permission is looked up
	maxMessages = 200     // of one thread, the newest
	maxMessage  = 8 << 10 // of one message, in characters
	maxCommits  = 10      // to which threads are relocated for conversations that people started
)

// listLag is how long a forge may take to list a new comment: a younger one that is missing
// was not deleted.
const listLag = time.Minute

// Identity says who we are on a pull request.
type Identity struct {
	Number int // of the pull request
	Me     forge.Person
	Author precedent.ForgeID // of the pull request; empty if unknown
	// Read is the method of comment.Writer, for this pull request.
	Read func(body string) (comment.Marker, bool)
	// Proven tells that a marker that Read returns from a comment of Me is ours: it was signed, or no other workflow may
	// post with the account (decision 38).
	Proven bool
	// Partial tells that not all comments were read: a missing one proves nothing.
	Partial bool
	// Relocated returns copies of threads, relocated to another commit. It may be nil.
	Relocated func(commit string, ts []precedent.Thread) []precedent.Thread
	Now       time.Time
}

// readMarker returns the marker of one of our comments. An account without an id never
// matches.
func (s Identity) readMarker(c forge.Comment) (comment.Marker, bool) {
	if s.Me.ID == "" || c.Author.ID != s.Me.ID {
		return comment.Marker{}, false
	}
	return s.Read(string(c.Body))
}

// Assemble returns the threads of the pull request in the order in which they were opened:
// those with a comment, stored ones whose comment is gone, and stored ones that are only in
// the summary. There is one per fingerprint.
//
// A comment opens a thread if it is inline, Me wrote it, and it has the marker of a finding.
// If markers are not proven, the store must also have its number: other programs may post with the
// same account, and repeat a marker. A conversation that a person started later on the lines of a
// finding, as they were at the commit of that comment, belongs to the finding's thread: some
// forges have no replies at a newer head. mayWrite tells whether a person has write permission now; it is
// called once for each person who wrote in a thread.
//
// A thread is resolved if a person with write permission closed the conversation. It is
// wont_fix if a person with write permission dismissed the finding, or if the comment was
// deleted, or if the author of the pull request dismissed a finding that is neither severe nor
// in a protected category. Both are final unless a person reopens the
// conversation, in which the words of a dismissal still count. It is addressed if we closed it, or found it fixed and
// have yet to close it; pending_response if a person wrote and no review has handled that; else open.
func Assemble(
	comments []forge.Comment, convs []forge.Thread, stored []precedent.Thread, self Identity,
	mayWrite func(forge.Person) bool,
) []precedent.Thread {
	a := assembly{
		self: self, stored: stored, convOf: map[precedent.ForgeID]int{},
		convs: convs, moved: map[string][]precedent.Thread{}, asked: map[precedent.ForgeID]bool{}, mayWrite: mayWrite,
	}
	a.comments = slices.Clone(comments)
	slices.SortStableFunc(a.comments, func(x, y forge.Comment) int {
		return cmp.Or(x.At.Compare(y.At),
			x.ID.Compare(y.ID))
	})
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
