// Package post posts a review on its pull request, each comment exactly once.
//
// The posts are planned and saved together with the review. Delivering them may end at any moment, by a crash
// or by a lost answer, and can be repeated: each post is marked as being sent before the request, and a post
// whose state is unknown is looked for among the comments before it is sent again. A comment counts as ours
// only if our account wrote it and it has a marker that is valid for this pull request; without a key that
// signs markers, only if its number is stored.
//
// Only one run at a time posts on a pull request: it claims the summary first. A forge may show a new comment
// later than this package waits. Then it is posted twice; the sweep at the beginning and at the end of each
// delivery finds that, keeps the older one and deletes the other.
//
// What people do to a comment is final: a deleted, resolved or dismissed remark is never posted again.
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

// Poster posts to one forge with one account. All fields are required except Style,
// Instant, Replica and Recheck.
type Poster struct {
	Forge forge.Forge
	Rows  *store.Repo // of the repository that is posted to
	// Writer writes comments and reads their markers. Deliver sets its PullRequest.
	Writer comment.Writer
	Me     forge.Person // the account of Forge
	Style  report.Style // of the summary

	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	Rand  func(n time.Duration) time.Duration // a number in [0, n), n > 0
	// Instant tells that the forge lists a comment at once.
	Instant bool
	NewID   func() string // UUIDv7
	// Replica is that of the server that posts; empty for a command. Once it is known to be dead, its
	// deliveries hold up nobody.
	Replica string
	// Recheck takes citations from a stored review that do not hold any more, before it is posted. It
	// is nil for a review that was checked when it was planned.
	Recheck func(ctx context.Context, r *precedent.Review)
}

const (
	// listLag is how long a forge may take to show a new comment. Until then its absence proves nothing.
	listLag = 5 * time.Second
	// maxLooks is how often a comment that may have been posted is looked for before it is sent
	// again. The pauses grow; together they take between 15 and 50 seconds.
	maxLooks = 3
	// maxTries is the number of failed requests that ends a delivery.
	maxTries = 8
	// firstPause is the longest pause after the first failure; each failure doubles it.
	firstPause = 2 * time.Second
	// maxWait is the longest wait for a rate limit: secondary limits without a time ask for one minute. If the
	// limit takes longer, the delivery ends and the rest stays planned.
	maxWait = 2 * time.Minute
)

// Options are the settings of the operator and the policy for posting. They are the payload of a summary and of a
// check.
type Options struct {
	// FailOn is the mildest severity that fails a check.
	FailOn precedent.Severity `json:"fail_on"`
	// RequestChanges requests changes if a live finding is as bad as FailOn or worse. By default
	// reviews only comment.
	RequestChanges bool `json:"request_changes,omitempty"`
	// PassWithoutModel makes the check of a clean review a success although no model read the
	// change; else it is neutral.
	PassWithoutModel bool `json:"pass_without_model,omitempty"`
	// Precedents says how comments and summary cite what people wrote.
	Precedents precedent.CitationDisplay `json:"precedents,omitempty"`
	// Tries is the number for the marker of the summary if the review is incomplete: of incomplete
	// reviews in a row, this one included.
	Tries int `json:"tries,omitempty"`
	// Unrelated tells that the branches have no common commit. Gitea opens such a pull request, but cannot
	// make its diff, on which remarks would be.
	Unrelated bool `json:"unrelated,omitempty"`
}

// Delivery is the result of a delivery.
type Delivery struct {
	URL string // of the summary; empty if there is none, or the forge does not show it yet
	// Superseded tells that the head has moved: nothing was posted for the old one, and the new
	// one should be reviewed.
	Superseded bool
	// Undeliverable says why posting on the pull request is not possible any more; empty if it is.
	Undeliverable string

	// OtherRun tells that another run posts on the pull request: it has posted what this one
	// had to say, or what is in Left is for it or the next run.
	OtherRun bool
	// Unposted is why the forge rejected the summary; empty if it did not.
	Unposted string

	Remarks   int // new comments that open a conversation
	Replies   int // new comments in conversations
	Edits     int // answers that were written into the comment that opened the conversation
	Resolved  int // conversations that were closed or reopened
	Summaries int // summaries that were posted or edited
	Checks    int
	Adopted   int // planned posts that were on the forge already
	Rejected  int // remarks that the forge rejected: they are in the summary
	Deleted   int // duplicates that were deleted or hidden
	Left      int // posts that another delivery has to send
	// Unsure counts posts that were sent again because the forge did not show them. If it was
	// only slow, there are duplicates until the next delivery.
	Unsure int
	Notes  []string // for people: what failed, and what to do about it
}

// Posted is the number of posts that were sent.
func (d Delivery) Posted() int {
	return d.Remarks + d.Replies + d.Edits + d.Resolved + d.Summaries + d.Checks
}
