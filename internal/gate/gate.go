// Package gate runs a repository's own build and test commands on a pull request, in the
// sandbox or not at all. Only for a person's own work tree can that person allow to run them
// without one, where there is none ([Local]).
//
// The commands come from the base commit: from its policy, else from its documents
// ([Discover]). Everything else is hostile: what a command runs, writes and prints is
// the pull request's. Each command gets a sandbox of its own ([sandbox.Sandbox]) with a private
// copy of the head, an environment made from scratch, no network and no secrets.
package gate

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// Command is one command of a gate.
type Command struct {
	Name   string // for people, such as test
	Line   string // what a shell runs, in the top folder of the tree
	Source string // where the command comes from, such as "AGENTS.md: Test"
}

// Status is how a command ended, or a whole run.
type Status string

// The statuses. Only Failed means that the commands reject the change; TimedOut and
// Resource mean that nobody knows.
const (
	Passed   Status = "passed"
	Failed   Status = "failed"   // an exit status other than 0, twice
	Flaky    Status = "flaky"    // failed, then passed when it ran again
	TimedOut Status = "timeout"  // over the time limit
	Resource Status = "resource" // over the limit of memory or processes
	Skipped  Status = "skipped"  // did not run, or lacks a program
)

// Trust says whose code a run executes. Caches of one trust are never seen by another.
type Trust string

// The levels of trust.
const (
	Pull Trust = "pull" // the head of a pull request: hostile
	Base Trust = "base" // a commit that was merged
	Own  Trust = "own"  // the work tree of the person who runs the program
)

// Limits limit a run. A zero field means its default.
type Limits struct {
	Time    time.Duration  // of one command; default 5 minutes
	Total   time.Duration  // of all commands together; default 20 minutes
	Sandbox sandbox.Limits // all but Time
}

// Request says what to run on what.
type Request struct {
	Repo precedent.Repo
	// Tree is the folder of the exported head, without .git. Commands see a copy.
	Tree string
	Base string // the base commit's hash
	// Read reads a file of the base commit; the error is fs.ErrNotExist if there is none. Nil
	// means that no dependencies are fetched.
	Read func(path string) ([]byte, error)
	// Lacks says, in a few words, which files of the head Tree lacks; empty if it has all.
	Lacks string
	Trust Trust // Own, or empty for Pull
	// BaseTree exports the base commit without .git, to fill the build cache that runs of
	// pull requests start from; nil means that they start from what there is.
	BaseTree func(context.Context) (string, error)
	// InHistory reports whether a commit is in the history of the base: then a build cache of that
	// commit does for the base, too. Nil means that none does.
	InHistory func(ctx context.Context, commit string) bool
	Policy    precedent.Gate
	Commands  []Command
	Limits    Limits
	// Show is called with the result of each command that ran, when it has ended. It may be nil.
	Show func(CommandResult)
}

// Result is what a run found. A failing gate is a result, never an error.
type Result struct {
	Status   Status
	Why      string // in a few words; empty if it passed
	Commands []CommandResult
	// Dependencies says what was done about them, such as "go: 12 modules, as of the base"; empty if the
	// tree needs none.
	Dependencies string
	// Blocks is set if the change must not go on: a command failed, or was flaky where the
	// policy says that this fails.
	Blocks bool
	Took   time.Duration
}

// CommandResult is how one command ended.
type CommandResult struct {
	Command
	Status Status
	Why    string // in a few words; empty if it passed
	Exit   int    // of the last run; -1 if the sandbox ended it
	// Output is what the command printed, its start and its end, with secrets redacted. It is hostile text.
	Output string
	Took   time.Duration
}

// Runner runs gates. It is safe for concurrent use.
type Runner struct {
	// Sandbox returns the sandbox. If it is nil or fails, gates are skipped.
	Sandbox func(context.Context) (sandbox.Sandbox, error)
	// CacheDir keeps dependencies and build caches; if it is empty, nothing is kept.
	CacheDir string
	// Path lists the folders of the operator's toolchains.
	Path string
	// ModCache is the operator's cache of Go modules. Modules that the base requires are copied from it.
	ModCache string
	GoProxy  string // the only server that Go modules are fetched from; empty means none
	// NPMRegistry is the only server that packages of npm, pnpm and yarn are fetched from; empty means none.
	NPMRegistry string
	// PythonIndex is the only index that wheels of Python are fetched from, with the servers that it
	// names; empty means none. It speaks the simple API in JSON.
	PythonIndex string
	// CratesIndex is the only sparse index that crates of Rust are fetched from, with the server that it
	// names; empty means none.
	CratesIndex string
	// Client sends the requests to these three; nil means [http.DefaultClient].
	Client *http.Client
	// Local runs the commands of requests with the trust Own where there is no sandbox; nil for never.
	// Other requests are skipped there, whatever it is.
	Local *Local
	// Log may be nil.
	Log *slog.Logger
}
