// Package engine is the seam to whatever does a reading task: a model behind an
// API, an agent on the command line, or any program. A task goes in, an answer
// that fits the task's schema comes out, or a status that says what went wrong.
// No engine ever posts, decides or stores anything.
package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/precedent-dev/precedent"
)

// Role is the kind of a task; each has an answer schema of its own.
type Role string

// The roles that tasks have.
const (
	Finder   Role = "finder"
	Verifier Role = "verifier"
	Judge    Role = "judge"
	Threads  Role = "threads"
)

// Task is one piece of reading to be done.
type Task struct {
	Role   Role
	Name   string // the finder's name, or the role's: for transcripts and progress
	System string
	// The prompt is Common, Prefix and Prompt, one behind the other. Common is the
	// same, byte by byte, in all tasks of a role on one review; Prefix in those of
	// them that read one part of the change. An engine that can makes the provider
	// cache System, what ends with Common, and what ends with Prefix.
	Common, Prefix string
	Prompt         string
	// Schema is the JSON Schema that the answer must satisfy.
	Schema json.RawMessage
	// Tree is a read-only export of the head without .git; empty if the engine
	// has no use for one (see Info.WantsTree).
	Tree string
	// Timeout bounds the task, requests repeated after a malformed answer
	// included; DefaultTimeout if it is not positive.
	Timeout time.Duration
	// FirstByte is called at most once, when the first byte of the answer is
	// here; nil if nobody waits for it. From then on the prefix can be cached.
	FirstByte func()
}

// DefaultTimeout bounds a task that names no bound of its own. It is the time
// that a whole review has on a pull request, so a lone task never outlives one.
const DefaultTimeout = 10 * time.Minute

// Answer is what became of a task. Trouble that a review has to live with is a
// value here: Status says how it ended and Message why, for a person.
type Answer struct {
	Status precedent.Status // ok, refused, malformed, timeout, truncated, over-budget or error
	// JSON satisfies the task's schema when Status is ok, else it is nil. Its
	// whole numbers have neither fraction nor exponent, so that what the schema
	// calls an integer decodes into one.
	JSON json.RawMessage
	// Message may hold what a program wrote to its standard error, control
	// characters included: escape it before a terminal sees it.
	Message string
	Model   string
	Usage   precedent.Usage // of all requests of the task
	CostUSD float64
}

// Info describes an engine before it is asked anything.
type Info struct {
	Name string // "command", "api", "claude"
	Line string // which engine, why it was chosen, where the code goes: one line for people
	// Who is the model and host, or the program: two engines of one name and one
	// Who would answer alike.
	Who string
	// WantsTree tells whether tasks need Task.Tree.
	WantsTree bool
	// Cost is what usage costs in US dollars; nil if the engine does not know
	// its prices beforehand.
	Cost func(precedent.Usage) float64
}

// User is the whole prompt.
func (t Task) User() string { return t.Common + t.Prefix + t.Prompt }

// Engine does tasks. Run returns an error only for a cancelled context or a
// defect of the engine itself; whatever the far side does is an Answer.
// Implementations are safe for concurrent use.
type Engine interface {
	Info() Info
	Run(ctx context.Context, t Task) (Answer, error)
}
