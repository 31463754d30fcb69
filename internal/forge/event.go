package forge

import "github.com/precedent-dev/precedent"

// Event is something that happened on a forge, as it tells by a webhook, or to a
// workflow by a file. What is not told is zero.
type Event struct {
	Kind EventKind
	Repo precedent.Repo
	// Pulls are the numbers of the pull requests of Repo that it is about.
	Pulls []int
	// Head is the commit that it is about.
	Head string
	// Comment is what was said. Its Kind is empty if the forge does not tell that.
	Comment CommentRef
	By      Person // who made it happen
}

// EventKind sorts events.
type EventKind string

// The kinds. NoEvent stands for everything else.
const (
	NoEvent      EventKind = ""
	PullEvent    EventKind = "pull_request" // it was opened, pushed to, labelled, closed …
	CommentEvent EventKind = "comment"      // somebody commented on a pull request or reviewed it
	RunEvent     EventKind = "run"          // a workflow, a check or a status changed
	PushEvent    EventKind = "push"
)

// MaxEvent bounds what a forge tells of an event, in bytes: GitHub caps payloads at
// 25 MB.
const MaxEvent = 25 << 20
