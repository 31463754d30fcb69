package workspace

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/store"
)

// Env is what all runs of a process share. It is safe for concurrent use as long as nobody changes it.
type Env struct {
	Now   func() time.Time
	NewID func() string // UUIDv7
	Sleep func(ctx context.Context, d time.Duration) error
	// Log gets notices: one sentence each, with what helps in the attribute HintKey.
	Log *slog.Logger

	Git     git.Options                                    // without an index
	Go      lint.GoEnv                                     // where the Go toolchain is
	Sandbox func(ctx context.Context) (lint.Runner, error) // where external linters run
	Version string                                         // of this program
	// DataDir holds the memories of repositories without a work tree, and CacheDir
	// their commits. Without the first such a repository has no memory unless one is
	// named; without the second its commits are in a temporary folder.
	DataDir, CacheDir string
	Shared            *store.DB // the database of all repositories, as a server has one; nil for a file of each
	Replica           string    // the name that the jobs of a server run under; empty for a command
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

// Notice logs a message for the user.
func (r *Env) Notice(ctx context.Context, format string, args ...any) {
	r.Log.InfoContext(ctx, fmt.Sprintf(format, args...))
}

// NoticeError logs an error that does not end the work, its consequence and its hint.
func (r *Env) NoticeError(ctx context.Context, err error, consequence string) {
	var attrs []any
	if hint := HintOf(err); hint != "" {
		attrs = append(attrs, HintKey, hint)
	}
	r.Log.InfoContext(ctx, err.Error()+consequence, attrs...)
}

// EngineSetup creates the engine that reads a change.
type EngineSetup struct {
	// New returns the engine, and a function that closes it; nil for no engine.
	New     func(EngineOptions) (e engine.Engine, end func() error)
	WhyNone string // why no engine is used
}

// Enabled reports whether there is an engine.
func (r EngineSetup) Enabled() bool { return r.New != nil }

// EngineOptions are what an engine is made for.
type EngineOptions struct {
	Budget *engine.Budget
	Files  Files
	Window int // its context window in tokens; 0 for a large one
	// Learnings are those that apply to the change and did not fit into the prompts: a model
	// can ask for them.
	Learnings []precedent.Learning
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
