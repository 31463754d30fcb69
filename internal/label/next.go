package label

import "cmp"

// EventKind is what happened to a pull request.
type EventKind string

// The kinds.
const (
	GateFailed   EventKind = "gate failed"
	Findings     EventKind = "findings"      // a review with findings at or above the threshold, or unresolved threads
	Clean        EventKind = "clean"         // a complete review, and nothing is open
	Incomplete   EventKind = "incomplete"    // a partial or failed review
	FixDue       EventKind = "fix due"       // a fix would begin
	FixPushed    EventKind = "fix pushed"    //
	NothingOpen  EventKind = "nothing open"  // a fix was due, and nothing is open any more
	FixFailed    EventKind = "fix failed"    // nothing changed, the build failed, or the branch cannot be pushed to
	ChecksPassed EventKind = "checks passed" // or none are configured
	ChecksFailed EventKind = "checks failed" // or not done in time
	ChecksWait   EventKind = "checks pending"
)

// Kinds are all kinds of events.
var Kinds = []EventKind{
	GateFailed, Findings, Clean, Incomplete, FixDue, FixPushed, NothingOpen, FixFailed,
	ChecksPassed, ChecksFailed, ChecksWait,
}

// Bounds of the cycle. When one is exceeded, people have to look.
const (
	MaxCycles     = 5 // reviews, failed gates, failed checks and failed fixes; the default
	MaxIncomplete = 3 // incomplete reviews in a row
	MaxFailed     = 2 // failed fixes of one head
)

// Event is what happened, and how often.
type Event struct {
	Kind EventKind
	// Times is how often it happened in a row, this time included, for Incomplete and FixFailed.
	Times int
	// Cycles are the cycles so far and MaxCycles how many there may be, for FixDue; 0 means the default.
	Cycles, MaxCycles int
}

// Effect is what goes with a transition, apart from the label.
type Effect string

// The effects.
const (
	Nothing         Effect = ""
	CommentGate     Effect = "comment gate"     // with the end of the failed command's output; the review is skipped
	PostReview      Effect = "post review"      // with the answers in threads
	PostNoRemarks   Effect = "post no remarks"  // a review that says what was checked
	SayMissing      Effect = "say missing"      // a review that says what was not read
	Fix             Effect = "fix"              // begin a fix
	ReplyAddressed  Effect = "reply addressed"  // in the threads that the fix addresses
	CommentFix      Effect = "comment fix"      // why there is no fix
	CommentChecks   Effect = "comment checks"   // the failed checks with their links
	CommentGivingUp Effect = "comment givingup" // why people have to look
)

// Next returns what follows an event: the next state, and what goes with it. An event that does
// not belong to the state changes nothing.
func Next(s State, e Event) (State, Effect) {
	switch s {
	case ReviewNeeded:
		return afterReview(e)
	case Changes:
		return afterFix(e)
	case CIPending:
		return afterChecks(e)
	}
	return s, Nothing
}

func afterReview(e Event) (State, Effect) {
	switch e.Kind {
	case GateFailed:
		return Changes, CommentGate
	case Findings:
		return Changes, PostReview
	case Clean:
		return HumanReview, PostNoRemarks
	case Incomplete:
		if e.Times >= MaxIncomplete {
			return Intervention, SayMissing
		}
		return ReviewNeeded, SayMissing
	}
	return ReviewNeeded, Nothing
}

func afterFix(e Event) (State, Effect) {
	switch e.Kind {
	case FixDue:
		if e.Cycles > cmp.Or(e.MaxCycles, MaxCycles) {
			return Intervention, CommentGivingUp
		}
		return Changes, Fix
	case FixPushed:
		return CIPending, ReplyAddressed
	case NothingOpen:
		return CIPending, Nothing
	case FixFailed:
		if e.Times >= MaxFailed {
			return Intervention, CommentFix
		}
		return Changes, CommentFix
	}
	return Changes, Nothing
}

func afterChecks(e Event) (State, Effect) {
	switch e.Kind {
	case ChecksPassed:
		return ReviewNeeded, Nothing
	case ChecksFailed:
		return Changes, CommentChecks
	}
	return CIPending, Nothing
}
