package forge

import "time"

// CommitCheck is a check run or a status of a commit: what a CI reports.
type CommitCheck struct {
	// Name is that of the check run, or the context of the status. Text of the CI: untrusted.
	Name  string
	State CheckState
	// URL is the page of the result; empty if there is none, or it is not http or https.
	// It may be on any host.
	URL string
	// Started is when the check started, or when it was created if that is not known.
	Started time.Time
	// Own tells that we made it, with Check: it says nothing about the CI.
	Own bool
}

// CheckState is the state of a CommitCheck.
type CheckState string

// The states.
const (
	CheckPending CheckState = "pending" // queued, waiting, running; also a state that is not known
	CheckPassed  CheckState = "passed"  // on Gitea also with a warning
	CheckFailed  CheckState = "failed"  // also cancelled, timed out, stale, and waiting for a person
	CheckSkipped CheckState = "skipped" // also neutral
)

// MaxCheckName bounds CommitCheck.Name, in characters; a longer name is cut.
const MaxCheckName = 255

// MaxRepositories bounds the result of Forge.Repositories.
const MaxRepositories = 1000
