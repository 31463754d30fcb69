// Package post says what a review has to say on its pull request, each thing
// exactly once.
//
// What is to be said is planned and saved together with the review. Delivering it
// can end at any moment, by a crash as well as by an answer that nobody heard, and
// be begun again: what is under way is written down before each request, and what
// nobody is sure of is looked for among the comments that stand there, before
// anything is sent a second time. A comment counts as one of these only if the own
// account wrote it and it carries a marker that holds for this pull request.
//
// A forge may show what was posted later than it posts it. One that takes longer
// than this package waits makes it say a thing twice; the sweep at the beginning
// and at the end of each delivery finds that, keeps the older and deletes the
// other.
//
// What a person does to a comment is final: what was deleted, resolved or
// declined is never said again.
package post

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/store"
)

// Poster posts to one forge as one account. All fields are needed, but for Style
// and MaxWait.
type Poster struct {
	Forge forge.Forge
	Rows  *store.Repo // of the repository that is posted to
	// Writer makes comments and reads their markers. Its Place is set by Deliver.
	Writer comment.Writer
	Me     forge.Person // the account of Forge
	Style  report.Style // of the summary

	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func(n time.Duration) time.Duration // a number in [0, n), n > 0
	NewID func() string                       // UUIDv7
	// MaxWait is the longest wait for a rate limit; one that takes longer ends the
	// delivery with the rest planned. 2 minutes if it is 0.
	MaxWait time.Duration
}

const (
	// listLag is what a forge may take to show what was posted: nothing is
	// concluded from its not being there before.
	listLag = 5 * time.Second
	// maxLooks is how often what may have been posted is looked for before it is sent
	// again. The pauses grow, so that they are between 15 and 50 seconds in all.
	maxLooks = 3
	// maxTries bounds the requests of one delivery that may fail without ending it.
	maxTries = 8
	// firstPause is the longest pause after the first failure; each failure
	// doubles it.
	firstPause = 2 * time.Second

	defaultMaxWait = 2 * time.Minute // a secondary limit that names no time asks for one
)

// Options are what the operator and the policy say of posting.
type Options struct {
	// FailOn is the mildest severity that fails a check.
	FailOn precedent.Severity
	// RequestChanges asks for changes if a live finding is as bad as FailOn or
	// worse. Else, and by default, reviews only comment.
	RequestChanges bool
}

// Delivery is what came of delivering.
type Delivery struct {
	Review string // id of the review that spoke; empty if none had anything to say
	URL    string // of the summary; empty if there is none, or the forge has not shown it
	// Superseded tells that the head has moved: nothing is said of the old one, and
	// somebody should review the new one.
	Superseded bool
	// Undeliverable says why nothing can be posted on the pull request any more;
	// empty if something can.
	Undeliverable string

	Posted   int // things that were said or done
	Adopted  int // of those that were planned, what stood there already
	Rejected int // remarks that the forge did not take: they are in the summary
	Deleted  int // duplicates that were deleted or folded up
	Left     int // posts that are still to be sent; another delivery can
	// Unsure counts what was sent again because the forge did not show it. If it was
	// only slow, there are duplicates until the next delivery.
	Unsure int
	Notes  []string // for a person: what did not work, and what to do about it
}
