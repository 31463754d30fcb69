// Package workspace opens what a run needs, and serves the commands that only read and write a memory.
//
// An [Env] is what all runs of a process share: clock, log, git, folders, the database of a server.
// It opens a [Repository], which is a clone with its identities and the place of its memory, and a
// [Workspace], which is that with the memory open:
//
//	env.OpenRepository(ctx, at)   // a clone around a folder
//	env.OpenWorkspace(ctx, at)    // with its memory; an empty one answers where there is none yet
//	env.OpenForReview(ctx, repo)  // a review goes on, and says so, if its memory cannot be opened
//	env.OpenMemory(ctx, repo)     // the database alone; it is made if there is none
//	env.SharedWorkspace(ctx, id)  // the rows of a repository in a server's database, without a clone
//	env.OpenInstallation(ctx, …)  // that database, for the commands of an operator
//
// The memory is beside the repository only if nobody else can have made it there: a commit, a link
// or another user could otherwise decide what is hidden ([Env.MemoryFile]).
//
// A [Connection] is a forge, and how git reaches it. [Permissions] asks it what people may do, once
// for each. An [EngineSetup] makes engines. A [BookedBudget] bounds what they spend, across processes:
// for one run, for a pull request and for a day.
//
// Nothing here prints or reads an environment variable: notices go to the log of the Env, and everything else
// is returned. An [Error] has a hint for people, which [HintOf] finds whichever package attached it.
package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
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
	Files  engine.Files
	Window int // its context window in tokens; 0 for a large one
	// Learnings are those that apply to the change and did not fit into the prompts: a model
	// can ask for them.
	Learnings []precedent.Learning
}

// Count is a number with its noun.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShortID is the beginning of an object id, for people.
func ShortID(id string) string { return id[:min(len(id), 12)] }

// ShortHash is the beginning of the hash of a text, in hexadecimal digits.
func ShortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// Quoted is a text of ours as code.
func Quoted(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
