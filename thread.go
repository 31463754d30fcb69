package precedent

import "time"

// Thread is a posted finding with its conversation and state. It belongs to one pull request
// and is relocated after each push.
type Thread struct {
	ID          string // UUIDv7; part of the footer of its comments
	PullRequest int
	Review      string // id of the review that opened it
	// Finding, Fingerprint and Place are those of the finding when it was posted.
	Finding, Fingerprint, Place string

	Finder     string
	Category   Category
	Severity   Severity
	Confidence int // percent
	// Refit is that of the finding.
	Refit      int
	Title      string
	Body       string
	Suggestion string
	Quote      string // the flagged lines when it was posted

	// Span has the lines that it is about, in the numbers of Commit, wherever it was posted. Start
	// is 0 if it is about a file.
	Span
	Commit string
	// SeenPath is the file's name at SeenAt, the head of the last review that found it; empty
	// before the second review. This follows renames from push to push.
	SeenPath, SeenAt string
	// Comment is the comment that opened it; empty if it is part of the summary.
	Comment ForgeID
	URL     string // of Comment
	// Forge is the forge's id of the conversation; empty if the forge has none.
	Forge ForgeID

	State ThreadState
	// Closed tells that the forge shows the conversation as resolved. ClosedBy is who resolved
	// it; empty if the forge does not say.
	Closed   bool
	ClosedBy string
	// DismissedBy is who dismissed it with a reaction, or in words that a model read, and DismissedWords are those
	// words. Both are empty unless that happened.
	DismissedBy, DismissedWords string
	// Deleted tells that the comment was deleted.
	Deleted bool
	// Messages are the comments after the first one, oldest first.
	Messages []Message
	OpenedAt time.Time

	// Current is where its lines are at the reviewed head: the file alone if the lines no longer
	// exist, the zero Span if the file does not. Changed tells that the flagged lines differ
	// from those at Commit, and CodeChanged that they do in more than comments and white space.
	Current     Span
	Changed     bool
	CodeChanged bool
}

// ThreadOf returns the thread that a finding of a review opens, with the finding's id and without a comment.
func ThreadOf(r *Review, f *Finding) Thread {
	return Thread{
		ID: f.ID, Review: r.ID, Finding: f.ID, Fingerprint: f.Fingerprint, Place: f.Place, Finder: f.Finder, Category: f.Category,
		Severity: f.Severity, Confidence: f.Confidence, Refit: f.Refit, Title: f.Title, Body: f.Body, Suggestion: f.Suggestion,
		Quote: f.Quote, Span: f.Span, Commit: r.Head, State: ThreadOpen,
	}
}

// ProvenChange tells whether the flagged lines changed enough for the finding to be fixed. One
// of high or critical severity, or of unknown severity, needs a change of the code itself.
func (t *Thread) ProvenChange() bool {
	return t.Changed && (t.CodeChanged || t.Severity != "" && !t.Severity.AtLeast(High))
}

// Severe tells whether only people with write permission may end the thread: its finding is of
// high, critical or unknown severity, or in a protected category.
func (t *Thread) Severe() bool {
	return t.Severity == "" || t.Severity.AtLeast(High) || t.Category.Protected()
}

// ThreadState is the state of a conversation.
type ThreadState string

// The states.
const (
	ThreadOpen      ThreadState = "open"
	ThreadPending   ThreadState = "pending_response" // a person wrote, and nobody has answered yet
	ThreadAddressed ThreadState = "addressed"        // the change fixed it
	ThreadResolved  ThreadState = "resolved"
	ThreadWontFix   ThreadState = "wont_fix" // a person dismissed it
)

// Final tells whether the thread is settled and gets no more replies.
func (s ThreadState) Final() bool { return s == ThreadResolved || s == ThreadWontFix }

// Message is one comment in a thread.
type Message struct {
	ID       ForgeID
	Who      string
	WhoID    ForgeID
	Own      bool // ours
	Bot      bool // another program's
	MayWrite bool // the person has write permission; the forge is asked each time
	Body     Untrusted
	At       time.Time
}

// ThreadAnswer is what a review concludes about a thread that was open when it began.
type ThreadAnswer struct {
	Thread  string `json:"thread_id"`
	Finding string `json:"finding"`
	Title   string `json:"title"`
	// Severity is what the thread's finding was posted with.
	Severity Severity    `json:"severity"`
	State    AnswerState `json:"state"`
	Span                 // where it is now, or where it was posted if it is gone
	Reply    string      `json:"reply"` // the reply to post in the thread; empty for none
	Why      string      `json:"why"`   // the proof, in one sentence
	By       string      `json:"by"`    // what decided: place, engine, person or finder
	// Who dismissed the finding in the thread, and the sentence that did. Both are empty unless
	// the state is declined because of a message in the thread.
	Who   string `json:"who"`
	Words string `json:"words"`
}

// Open tells whether the finding counts as open: it is still there, or nobody can tell.
func (a ThreadAnswer) Open() bool { return a.State == StillThere || a.State == Unanswered }

// AnswerState is the state of a thread's finding at a head.
type AnswerState string

// The answers.
const (
	StillThere   AnswerState = "still_there"
	Addressed    AnswerState = "addressed"
	NoLonger     AnswerState = "not_applicable" // the code that it was about is gone
	DeclinedHere AnswerState = "declined"       // a person dismissed it; the words are quoted
	Unanswered   AnswerState = "unanswered"     // it could not be determined; if an engine failed to, the review is partial
)

// Outcome is what happened to a posted finding, with the proof.
type Outcome struct {
	Thread      string   `json:"thread_id"`
	Finding     string   `json:"finding"`
	Fingerprint string   `json:"fingerprint"`
	PullRequest int      `json:"pull_request"`
	Title       string   `json:"title"`
	Category    Category `json:"category"`
	Severity    Severity `json:"severity"`
	Confidence  int      `json:"confidence"`
	// Refit is that of the finding when it was posted.
	Refit  int         `json:"refit"`
	Finder string      `json:"finder"`
	Kind   OutcomeKind `json:"outcome"`
	Proof  string      `json:"proof"` // in one sentence, with the person's own words
	Who    string      `json:"who"`   // the person who decided, of a fix the author; empty if none did
	// Words are the person's own sentence, verbatim; empty if it was a reaction.
	Words string `json:"words"`
	// MayWrite tells that the person has write permission, and so speaks for the team.
	MayWrite bool      `json:"may_write"`
	Commit   string    `json:"commit"`
	URL      string    `json:"url"` // of the comment
	At       time.Time `json:"at"`  // when it was determined
	// Back tells that the flagged code is there and the pull request open: it is neither fixed nor ignored, even if it was.
	Back bool `json:"-"`
}

// Label tells whether the team accepted the finding or not; ok is false if the outcome does not tell. Nothing
// follows from silence, a closed conversation, or a dismissal by somebody without write permission.
func (o Outcome) Label() (accepted, ok bool) {
	switch o.Kind {
	case Fixed, SuggestionTaken, Accepted:
		return true, true
	case Declined:
		return false, o.MayWrite
	}
	return false, false
}

// OutcomeKind is the kind of an outcome.
type OutcomeKind string

// The outcomes. Unknown means that nothing is proven yet: it says nothing about the finding.
const (
	Fixed             OutcomeKind = "fixed"                // a later commit changed the flagged lines, and the defect is gone
	SuggestionTaken   OutcomeKind = "suggestion_committed" // the suggested lines are at the head
	Accepted          OutcomeKind = "accepted"             // a person with write permission agreed, and the code is unchanged
	Declined          OutcomeKind = "declined"             // a person dismissed it
	ResolvedUnchanged OutcomeKind = "resolved_unchanged"   // a person closed the thread, and the code is unchanged
	IgnoredAtMerge    OutcomeKind = "ignored"              // merged or closed with the thread open and the code unchanged
	OutcomeUnknown    OutcomeKind = "unknown"
)

// OutcomeKinds lists all outcomes.
var OutcomeKinds = []OutcomeKind{
	Fixed, SuggestionTaken, Accepted, Declined, ResolvedUnchanged, IgnoredAtMerge, OutcomeUnknown,
}
