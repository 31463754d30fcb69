package workflow

import (
	"context"
	"errors"
)

// FixStatus is how a fix round ended.
type FixStatus string

// The ends of a fix round. All but FixPushed and FixSuperseded count as an attempt that failed:
// a comment with the id of the round says so.
const (
	FixPushed      FixStatus = "pushed"       // a commit is at the head of the pull request
	FixNoChange    FixStatus = "no-change"    // nothing was changed, or there is nothing to fix
	FixBuildFailed FixStatus = "build-failed" // the gate failed after the change
	FixConflict    FixStatus = "conflict"     // the conflicts with the base could not be resolved
	FixRefused     FixStatus = "refused"      // the change, the branch or the push is not allowed
	FixFork        FixStatus = "fork"         // the head is in a repository that cannot be pushed to
	FixSuperseded  FixStatus = "superseded"   // the head moved meanwhile: nothing was pushed
)

// FixOptions say how a fix round runs.
type FixOptions struct {
	// Ungated pushes also if the gate was skipped. Without it such a round is refused.
	Ungated bool
	// DryRun pushes and posts nothing.
	DryRun bool
	// Check is called right before each write; its error ends the round. It may be nil.
	Check func(ctx context.Context) error
}

// FixResult is a completed fix round.
type FixResult struct {
	Status FixStatus
	// Review is the id of the round, which is in the trailer of its commit and in the marker
	// of each of its comments.
	Review string
	Commit string // that was pushed, or is at the head already; empty for none
	// Addressed are the ids of the threads that the change addresses.
	Addressed []string
	Patch     string // what was changed, as a diff
	Why       string // for people
	Adopted   bool   // an earlier, interrupted round had pushed the commit
}

// Fix does one round: it merges the base, asks the engine to address all unresolved threads,
// checks what it changed, runs the gate, pushes one commit to the branch of the pull request, and
// replies to the threads. A round that is killed and repeated pushes nothing twice.
func (p *Publisher) Fix(ctx context.Context, job Job, o FixOptions) (FixResult, error) {
	return FixResult{}, errors.New("not implemented")
}
