package forge

import "github.com/precedent-dev/precedent"

// Event is something that happened on a forge, read from a webhook or from the event
// file of a workflow. Fields that the payload does not contain are zero.
type Event struct {
	Kind EventKind
	Repo precedent.Repo
	// Pulls are the numbers of the affected pull requests in Repo.
	Pulls []int
	// Head is the affected commit.
	Head string
	// Comments are the comments that were written, edited or deleted, where the payload tells.
	Comments []CommentChange
}

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
)

// MaxEvent bounds a payload, in bytes: GitHub caps payloads at 25 MB.
const MaxEvent = 25 << 20
