package workflow

import (
	"context"
	"errors"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/label"
)

// RoundOptions are what a round may do, apart from reading and reviewing.
type RoundOptions struct {
	// At says where the memory and the commits are; the zero value is right for a server, whose
	// repositories share a database.
	At Location
	// Labels are the operator's names; those that are empty have the default. A policy can name
	// others.
	Labels label.Names
	// Reviews says what leads to a review if the policy does not; nil means the default.
	Reviews *precedent.ReviewTriggers
	// Asked tells that a person asked for a review in a comment that an earlier run has answered,
	// and AskedAgain that everything is to be read.
	Asked, AskedAgain bool
	// Gate builds and tests the head before a review; nil for no gate.
	Gate *gate.Runner
	// Fix makes one attempt to fix what is open; nil for none: then the label stays for people or
	// another bot.
	Fix func(ctx context.Context, p *Publisher, job Job) (FixResult, error)
	// Check is called right before each write; the write is not made if it returns an error. It
	// may be nil.
	Check func(ctx context.Context) error
	// Show is called with a review before it is posted. It may be nil.
	Show func(Result) error
	// Watch follows the progress of a review.
	Watch Watch
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
	// Again is when another round is wanted although nothing happens until then: 0 for none.
	Again time.Duration
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
func (r *Reviewer) Round(ctx context.Context, conn Connection, repo precedent.Repo, number int, job Job, o RoundOptions) (RoundResult, error) {
	return RoundResult{}, errors.New("run round: not yet")
}
