package forge

import (
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

// Event is something that happened on a forge, read from a webhook or from the event
// file of a workflow. Fields that the payload does not contain are zero. An event only says
// where to look: the forge has the present state.
type Event struct {
	Kind EventKind
	// Action is what was done, one of the Action constants; empty if it is another one, or the
	// payload does not say.
	Action string
	// Repo is zero for an InstallationEvent.
	Repo precedent.Repo
	// Sender is the account that caused the event. Compare its ID with that of Me to ignore what
	// the server did itself, except for RunEvents: GitHub says that the account that pushed the
	// commit caused its checks, which is the server after a fix. There, ignore CheckName.
	Sender Person
	// Pulls are the numbers of the affected pull requests in Repo, at most MaxEventList. Events
	// about a commit name those that the forge lists, which is none for forks on GitHub and none
	// at all on Gitea: compare Head with the heads of Open.
	Pulls []int
	// Head is the affected commit: the head of the pull request or of the pushed branch at the
	// time of the event, or the commit of a check.
	Head string
	// Check is the name of the check run or the context of the status.
	Check string
	// Comments are the comments that were written, edited or deleted, where the payload tells.
	Comments []CommentChange
}

// MaxEventList bounds each list of an Event; further entries are left out. The poller finds what they name.
const MaxEventList = 1000

// The actions of an Event. Each forge's own words are mapped to them.
const (
	ActionOpened       = "opened"
	ActionReopened     = "reopened"
	ActionSynchronized = "synchronized" // the head moved
	ActionReady        = "ready"        // no longer a draft
	ActionLabeled      = "labeled"      // on Gitea also if a label was removed: it does not tell
	ActionUnlabeled    = "unlabeled"
	ActionEdited       = "edited" // on Gitea also if it became a draft or ready
	ActionClosed       = "closed" // without being merged
	ActionMerged       = "merged"
	ActionReview       = "review-requested"
	ActionCreated      = "created" // a comment, a review, a check
	ActionDeleted      = "deleted"
	ActionCompleted    = "completed" // a check or a workflow has a result
	ActionPending      = "pending"   // a check or a workflow waits or runs
	ActionResolved     = "resolved"  // a conversation
	ActionReopenedTalk = "unresolved"
)

// CommentChange is what happened to a comment.
type CommentChange struct {
	Action CommentAction
	// The comment is as History returns it. Of a deleted one, use only Number, Kind and ID. If the
	// payload does not tell the kind, it is empty; OnThread and OnLine then share their ids.
	NumberedComment
	// Pull is as in HistoryPage; its Number is 0 if the payload does not describe it.
	Pull PullRequest
}

// CommentAction is what was done with a comment.
type CommentAction string

// The actions.
const (
	CommentCreated CommentAction = "created"
	CommentEdited  CommentAction = "edited"
	CommentDeleted CommentAction = "deleted"
)

// EventKind is the type of an event.
type EventKind string

// The kinds. NoEvent is any other event.
const (
	NoEvent      EventKind = ""
	PullEvent    EventKind = "pull_request" // it was opened, pushed to, labelled, closed …
	CommentEvent EventKind = "comment"      // somebody commented on a pull request or reviewed it
	RunEvent     EventKind = "run"          // a workflow, a check or a status changed
	PushEvent    EventKind = "push"
	// InstallationEvent says that a GitHub App was installed or removed, or which repositories it
	// may access changed.
	InstallationEvent EventKind = "installation"
)

// Flaw says why an event cannot be true; empty if it can.
func (e *Event) Flaw() string {
	switch {
	case slices.ContainsFunc(e.Pulls, func(n int) bool { return n <= 0 }):
		return "it names no pull request"
	case e.Head != "" && !git.IsObjectID(e.Head), e.Kind == RunEvent && e.Head == "":
		return "it names no commit"
	}
	return ""
}

// MaxEvent bounds a payload, in bytes: GitHub caps payloads at 25 MB.
const MaxEvent = 25 << 20

// HookHeader is what a verified request of a webhook says about its payload.
type HookHeader struct {
	// ID is the delivery's id, the same for each attempt; empty if the forge sends none. At most
	// 100 bytes of visible ASCII.
	ID string
	// Event is the forge's name of the event, for ReadEvent.
	Event string
}

// The errors of VerifyHook.
var (
	ErrUnsigned    = errors.New("the request has no HMAC-SHA256 signature")
	ErrSignature   = errors.New("the signature of the request is wrong")
	ErrNoHookEvent = errors.New("the request is signed, but names no event or has no body")
)
