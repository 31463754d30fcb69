// Package engine is the interface to what does a reading task: a model behind an API, an agent on the command
// line, or any program. It takes a task and returns an answer that satisfies the task's schema, or a status
// that says what went wrong. An engine never posts, decides or stores anything.
package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/precedent-dev/precedent"
)

// Role is the kind of a task; each has its own answer schema.
type Role string

// The roles that tasks have.
const (
	Finder   Role = "finder"
	Verifier Role = "verifier"
	Judge    Role = "judge"
	Threads  Role = "threads"
	Answerer Role = "reply" // answers a comment of a person
	Insight  Role = "insight"
	Fixer    Role = "fix"   // edits the code to address threads
	Merger   Role = "merge" // edits the code to resolve the conflicts of a merge
)

// Task is one piece of reading to be done.
type Task struct {
	Role   Role
	Name   string // the finder's name, or the role's: for transcripts and progress
	System string
	// The text is Common, Prefix and Prompt in this order. Common is the same, byte for byte, in all tasks of
	// a role in one review; Prefix in those that read the same part of the change. If possible, an engine has
	// the provider cache System, the text up to Common, and the text up to Prefix.
	Common, Prefix string
	Prompt         string
	// Schema is the JSON Schema that the answer must satisfy.
	Schema json.RawMessage
	// Tree is a read-only export of the head: links are text, credentials are redacted, and files that configure
	// git or agents are not there (see Leave). Empty if the engine does not need one (see Info.WantsTree).
	Tree string
	// BaseTree is the same of the base, for tasks that compare: those of a verifier.
	BaseTree string
	// Edit lets the engine change the files below Tree, which is then a private, writable
	// copy. What the task changed is read from there, never from the answer.
	Edit bool
	// Timeout bounds the task, including requests repeated after a malformed answer;
	// DefaultTimeout if it is not positive.
	Timeout time.Duration
	// FirstByte is called at most once, when the first byte of the answer arrives: from
	// then on the prefix can be read from the cache. It may be nil.
	FirstByte func()
}

// DefaultTimeout bounds a task without a timeout. It is the time that a whole review of a pull request has.
const DefaultTimeout = 10 * time.Minute

// Answer is the result of a task. Problems that a review survives are values: Status
// says how the task ended and Message why, for people.
type Answer struct {
	Status precedent.Status // ok, refused, malformed, timeout, truncated, over-budget or error
	// JSON satisfies the task's schema when Status is ok, else it is nil. Its whole numbers have neither
	// fraction nor exponent, so that what the schema calls an integer decodes into one.
	JSON json.RawMessage
	// Message may contain what a program wrote to its standard error, including control
	// characters: escape it before printing.
	Message string
	Model   string
	Usage   precedent.Usage // of all requests of the task
	CostUSD float64
}

// Info describes an engine before it is asked anything.
type Info struct {
	Name string // "command", "api", "claude"
	Line string // which engine, why it was chosen, where the code goes: one line for people
	// Who is the model and host, or the program: engines with the same Name and Who give equivalent answers.
	Who string
	// WantsTree tells whether tasks need Task.Tree.
	WantsTree bool
	// Cost returns what usage costs in US dollars; nil if the prices are not known beforehand.
	Cost func(precedent.Usage) float64
}

// Files let a model look at the repository at the reviewed head (RIGHT) and at the base (LEFT).
type Files struct {
	// List returns the paths of all regular files, sorted.
	List func(ctx context.Context, at precedent.Side) ([]string, error)
	// Read returns a file's content, at most limit bytes of it.
	Read func(ctx context.Context, at precedent.Side, path string, limit int64) ([]byte, error)
	// History returns the last commits that touched a file, newest first, one a line.
	History func(ctx context.Context, path string) (string, error)
}

// User returns the whole prompt.
func (t Task) User() string { return t.Common + t.Prefix + t.Prompt }

// charsPerToken is what providers give for English and code.
const charsPerToken = 4

// Expect estimates the tokens of a task before it is sent.
func (t Task) Expect() int { return (len(t.System) + len(t.User())) / charsPerToken }

// Engine does tasks. Run returns an error only for a cancelled context or a defect of the engine itself;
// everything that the model or program does is an Answer. Implementations are safe for concurrent use.
type Engine interface {
	Info() Info
	Run(ctx context.Context, t Task) (Answer, error)
}
