package workflow

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/label"
)

// RoundOptions are what a round may do, apart from reading and reviewing.
type RoundOptions struct {
	// Labels are the names of the operator; those that are empty have the default. A policy can
	// name others.
	Labels label.Names
	// Reviews says what leads to a review if the policy does not; the zero value is the default.
	Reviews precedent.ReviewTriggers
	// Asked tells that a person asked for a review of the pull request in a comment, which a
	// round before has answered.
	Asked bool
	// Fix makes one attempt to fix what is open, and pushes it; nil for no fixes: then the label
	// stays for people or another bot.
	Fix func(ctx context.Context, p *Publisher, job Job) (FixOutcome, error)
	// Check is called right before each write; the write is not made if it returns an error. It
	// may be nil.
	Check func(ctx context.Context) error
	// Show is called with a review before it is posted. It may be nil.
	Show func(Result) error
	// Watch follows the progress of a review.
	Watch Watch
}

// FixOutcome is the result of one attempt to fix what is open on a pull request.
type FixOutcome struct {
	Pushed bool
	Commit string // that was pushed
	Why    string // no fix was pushed, for people
	// Superseded tells that the head has moved: the attempt counts for nothing.
	Superseded bool
	// Stop tells that another attempt would end the same, as for a fork that cannot be pushed to.
	Addressed int // threads
}

// RoundResult is what a round did.
type RoundResult struct {
	Head string // of the pull request when it was read
	// Did is the one thing that was due.
	Did RoundAct
	// Before and After are the states of the labels.
	Before, After label.State
	// Why says for people why nothing was due, or why a result is not what it could be.
	Why string
	// Review is the review of a RoundReview; nil if there is none.
	Review *precedent.Review
	// Status is the exit status that a command would have.
	Status int
	// Again tells that something is due right away or later: another round is wanted.
	Again bool
}

// RoundAct is what a round does.
type RoundAct string

// The acts.
const (
	RoundNothing RoundAct = ""
	RoundReview  RoundAct = "review"
	RoundGate    RoundAct = "gate" // it failed, so that nothing was reviewed
	RoundFix     RoundAct = "fix"
	RoundChecks  RoundAct = "checks"
)

// Round looks at a pull request as it is now and does the one thing that is due: it answers
// comments, and then reviews, fixes, checks the results of CI, or does nothing. All that it
// decides by is on the forge, so that a round after an interruption goes on where that one ended,
// and a round with nothing due writes nothing.
func (r *Reviewer) Round(ctx context.Context, conn Connection, repo *PullRepository, number int, job Job, o RoundOptions) (RoundResult, error) {
	return RoundResult{}, errors.New("run round: not yet")
}
