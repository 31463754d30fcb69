package precedent

import "time"

// Thread is a posted finding with its conversation and state. It lives on one
// pull request, and is carried from push to push.
type Thread struct {
	ID          string // UUIDv7; it stands in the footer of its comments
	PullRequest int
	Review      string // id of the review that opened it
	// Finding, Fingerprint and Place are those of the finding when it was posted.
	Finding, Fingerprint, Place string

	Finder     string
	Category   Category
	Severity   Severity
	Confidence int // percent
	Title      string
	Body       string
	Suggestion string
	Quote      string // the flagged lines when it was posted

	// Span is where it was posted, in the lines of Commit. Start is 0 for one that
	// stands in the summary or on a file.
	Span
	Commit string
	// SeenPath is the file's name at SeenAt, the head of the last review that found
	// it; empty before the second review. So renames are followed push by push.
	SeenPath, SeenAt string
	// Comment is the comment that opened it; empty for one that stands in the
	// summary.
	Comment ForgeID
	URL     string // of that comment
	// Forge is what the forge calls the conversation; empty if it has no name for it.
	Forge ForgeID

	State ThreadState
	// Closed tells that the forge shows the conversation as resolved, and ClosedBy
	// who did that: empty if the forge does not tell.
	Closed   bool
	ClosedBy string
	// Gone tells that the comment was deleted.
	Gone bool
	// Messages are what was said in it after the first comment, oldest first.
	Messages []Message
	OpenedAt time.Time

	// Now is where its lines are at the head that is looked at; the file alone if
	// they are not there any more, and the zero Span if the file is not. Changed tells that the flagged lines are not what
	// they were at Commit.
	Now     Span
	Changed bool
}

// ThreadState says how far a conversation has come.
type ThreadState string

// The states.
const (
	ThreadOpen      ThreadState = "open"
	ThreadPending   ThreadState = "pending_response" // a person wrote, and nobody has answered
	ThreadAddressed ThreadState = "addressed"        // the change answers it
	ThreadResolved  ThreadState = "resolved"
	ThreadWontFix   ThreadState = "wont_fix" // a person said no
)

// Settled tells whether nothing more is to be said in the thread.
func (s ThreadState) Settled() bool { return s == ThreadResolved || s == ThreadWontFix }

// Message is one comment in a thread.
type Message struct {
	ID       ForgeID
	Who      string
	WhoID    ForgeID
	Own      bool // ours
	Bot      bool // another program's
	MayWrite bool // the person has write permission, asked live
	Body     Untrusted
	At       time.Time
}

// ThreadAnswer is what a review says of a thread that was open when it began.
type ThreadAnswer struct {
	Thread  string `json:"thread_id"`
	Finding string `json:"finding"`
	Title   string `json:"title"`
	// Severity is what the thread's finding was posted with.
	Severity Severity    `json:"severity"`
	State    AnswerState `json:"state"`
	Span                 // where it is now; where it was when it was posted if it is gone
	Reply    string      `json:"reply"` // what is said in the thread; empty for nothing
	Why      string      `json:"why"`   // what shows it, in one sentence
	By       string      `json:"by"`    // place, engine, person or finder: what decided
	// Who dismissed the finding in the thread, and Words are the sentence; empty
	// unless the state is declined and the thread itself says so.
	Who   string `json:"who"`
	Words string `json:"words"`
}

// AnswerState is what became of a thread's finding at a head.
type AnswerState string

// The answers.
const (
	StillThere   AnswerState = "still_there"
	Addressed    AnswerState = "addressed"
	NoLonger     AnswerState = "not_applicable" // the code that it was about is gone
	DeclinedHere AnswerState = "declined"       // a person said no, in words that are quoted
	Unanswered   AnswerState = "unanswered"     // nobody could tell; if an engine was to, the review is partial
)

// Outcome is what became of a posted finding in truth, with its proof.
type Outcome struct {
	Thread      string      `json:"thread_id"`
	Finding     string      `json:"finding"`
	Fingerprint string      `json:"fingerprint"`
	PullRequest int         `json:"pull_request"`
	Title       string      `json:"title"`
	Category    Category    `json:"category"`
	Severity    Severity    `json:"severity"`
	Confidence  int         `json:"confidence"`
	Kind        OutcomeKind `json:"outcome"`
	Proof       string      `json:"proof"` // one sentence: what shows it, a person's own words included
	Who         string      `json:"who"`   // the person who decided; empty if none did
	// Words are the person's own sentence, verbatim; empty if a sign said it.
	Words string `json:"words"`
	// MayWrite tells that the person has write permission: the word is the team's.
	MayWrite bool      `json:"may_write"`
	Commit   string    `json:"commit"`
	URL      string    `json:"url"` // of the comment
	At       time.Time `json:"at"`  // when it was found out
}

// OutcomeKind sorts outcomes.
type OutcomeKind string

// The outcomes. Unknown is what nothing shows yet: it is no label for anything.
const (
	Fixed             OutcomeKind = "fixed"                // a later commit changed the flagged lines, and it is not there any more
	SuggestionTaken   OutcomeKind = "suggestion_committed" // the suggested lines are at the head
	Accepted          OutcomeKind = "accepted"             // a person with write permission said yes, and the code is as it was
	Declined          OutcomeKind = "declined"             // a person said no
	ResolvedUnchanged OutcomeKind = "resolved_unchanged"   // a person closed the thread, and the code is as it was
	IgnoredAtMerge    OutcomeKind = "ignored"              // merged or closed with the thread open and the code as it was
	OutcomeUnknown    OutcomeKind = "unknown"
)

// OutcomeKinds lists all outcomes.
var OutcomeKinds = []OutcomeKind{Fixed, SuggestionTaken, Accepted, Declined, ResolvedUnchanged, IgnoredAtMerge, OutcomeUnknown}
