// Package workflow runs a review from start to end: it prepares what the review
// needs, runs it, publishes it and learns from people's answers. Commands and jobs of
// a server can call it; it prints nothing and reads no environment variables.
//
// A local change:
//
//	OpenRepository → PrepareLocal → Prepared.Run
//
// A pull request, of which only the steps of a Publisher write to the forge:
//
//	OpenPullRepository → ReadPull → Pull.Publisher → Publisher.Converse
//	→ Publisher.Existing → Publisher.Prepare → Prepared.Run → Publisher.Deliver
//
// Publisher.Post does these in order. Reviewer.Round does the one thing that is due on a pull
// request of a server: that, an attempt to fix, or a look at CI.
//
// Without a Publisher, use Pull.Prepare and Prepared.Run. Pull.Outcomes returns what
// happened to posted findings.
package workflow

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// Reviewer is what all reviews of a process share. It is safe for concurrent use
// as long as nobody changes it.
type Reviewer struct {
	Now   func() time.Time
	NewID func() string // UUIDv7
	Sleep func(ctx context.Context, d time.Duration) error
	// Log gets notices: one sentence each, with what helps in the attribute HintKey.
	Log *slog.Logger

	Git git.Options // without an index
	Go  lint.GoEnv  // where the Go toolchain is
	// Sandbox is where external linters run.
	Sandbox func(ctx context.Context) (lint.Runner, error)
	Version string // of this program
	// DataDir holds the memories of repositories without a work tree, and CacheDir
	// their commits. Without the first such a repository has no memory unless one is
	// named; without the second its commits are in a temporary folder.
	DataDir, CacheDir string
	// Shared is the database of all repositories, as a server has one; nil for a file of each.
	Shared *store.DB
	// Replica is the name that the jobs of a server run under; empty for a command.
	Replica string
	// Indexes keeps the indexes of corpora between uses, with the database of all of them; nil to
	// open one for each use.
	Indexes *CorpusIndexes
	// CAFile holds the certificates that git trusts; empty for the system's.
	CAFile string
	// Proxy is the address of the proxy for an address; empty for none.
	Proxy func(address string) (string, error)
	// Embeddings returns the embedding model that the operator has set, and an error if it cannot
	// be used as it is set; nil for none.
	Embeddings func() (*Embeddings, error)
}

// HintKey is the attribute of a notice that says what helps.
const HintKey = "hint"

// notice logs a message for the user.
func (r *Reviewer) notice(ctx context.Context, format string, args ...any) {
	r.Log.InfoContext(ctx, fmt.Sprintf(format, args...))
}

// noticeError logs an error that does not end the work, its consequence and its hint.
func (r *Reviewer) noticeError(ctx context.Context, err error, consequence string) {
	var attrs []any
	if hint := HintOf(err); hint != "" {
		attrs = append(attrs, HintKey, hint)
	}
	r.Log.InfoContext(ctx, err.Error()+consequence, attrs...)
}

// Job says how a change is reviewed.
type Job struct {
	Settings *settings.Settings
	Engine   EngineSetup
	// Resume continues from the answers that an unfinished review of the same change
	// paid for.
	Resume bool
	// Again reads everything, also what an earlier review has read.
	Again bool
	// AskFix has a fix round of the pull request made, because a person with write permission asked for
	// one. comment identifies what the person wrote: asked twice for the same, it is made once. Nil
	// where comments cannot ask for it.
	AskFix func(ctx context.Context, comment string) error
	// Paths are the only files and folders to review, relative to the working folder; all
	// if empty. They are for local changes.
	Paths []string
}

// EngineSetup creates the engine that reads a change.
type EngineSetup struct {
	// New returns the engine, and a function that closes it; nil for no engine.
	New     func(EngineOptions) (e engine.Engine, end func() error)
	WhyNone string // why no engine is used
}

// enabled reports whether there is an engine.
func (r EngineSetup) enabled() bool { return r.New != nil }

// EngineOptions are what an engine is made for.
type EngineOptions struct {
	Budget *engine.Budget
	Files  Files
	Window int // its context window in tokens; 0 for a large one
	// Learnings are those that apply to the change and did not fit into the prompts: a model
	// can ask for them.
	Learnings []precedent.Learning
}

// Files let a model look at the repository at the reviewed head (RIGHT) and at the base
// (LEFT).
type Files struct {
	// List returns the paths of all regular files, sorted.
	List func(ctx context.Context, at precedent.Side) ([]string, error)
	// Read returns a file's content, at most limit bytes of it.
	Read func(ctx context.Context, at precedent.Side, path string, limit int64) ([]byte, error)
	// History returns the last commits that touched a file, newest first, one a line.
	History func(ctx context.Context, path string) (string, error)
}
