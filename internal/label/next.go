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

// after has the state that follows an event, where no bound decides.
var after = map[State]map[EventKind]State{
	ReviewNeeded: {GateFailed: Changes, Findings: Changes, Clean: HumanReview},
	Changes:      {FixPushed: CIPending, NothingOpen: CIPending},
	CIPending:    {ChecksPassed: ReviewNeeded, ChecksFailed: Changes},
}

// Next returns the state that follows an event. An event that does not belong to the state changes
// nothing.
func Next(s State, e Event) State {
	switch {
	case s == ReviewNeeded && e.Kind == Incomplete && e.Times >= MaxIncomplete,
		s == Changes && e.Kind == FixDue && e.Cycles > cmp.Or(e.MaxCycles, MaxCycles),
		s == Changes && e.Kind == FixFailed && e.Times >= MaxFailed:
		return Intervention
	}
	return cmp.Or(after[s][e.Kind], s)
}
