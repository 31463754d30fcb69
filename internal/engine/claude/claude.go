// Package claude is the engine that asks Claude Code, Anthropic's agent for the
// command line. The agent can read the change's tree, which has no files that would
// configure it, with three read-only tools, and ask for learnings that did not fit into its
// prompt. For a task that edits, it can also change the files of that task's private
// copy. It runs no commands, contacts no
// server but the model's, reads no settings of the repository, and does not outlive
// its task.
//
// The change and everything that the agent reads may be hostile: args.go documents
// what each flag and variable prevents.
package claude

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// Config is what the engine needs.
type Config struct {
	Program  string // the CLI's absolute path
	Model    string // as the CLI spells it; empty for its own default
	MaxTurns int    // most requests of one session; DefaultTurns if not positive
	// Env is the CLI's environment, from an allow-list: HOME, PATH, the key of the model and its base URL if
	// it has one. The engine adds variables of its own, see args.go.
	Env  []string
	Host string // where the code goes, for people
	Why  string // why this engine was chosen: "claude is in PATH"
	// Learnings is the command that starts a server of MCP with the learnings that did not fit
	// into the prompts, and nothing else; empty for none. The agent may call its tool.
	Learnings []string
	// Transcripts is the folder for the newest transcripts, created when needed; empty
	// for none. They contain the prompts, including code.
	Transcripts string
	Now         func() time.Time
	// Budget bounds the sessions; nil means no bound. Its remaining dollars are also the
	// CLI's bound for one session.
	Budget *engine.Budget
}

// DefaultTurns is enough to read a dozen files in a row before answering.
const DefaultTurns = 30

// mostStream bounds the output of one session: its messages contain all the files that it read, some twice,
// and what the model writes once in pieces of about 300 bytes for a few tokens, and once as a whole.
const mostStream = 64 << 20

// Engine asks Claude Code. It is safe for concurrent use. Close it.
type Engine struct {
	Config
	records records
	secrets []string
	// unmarked remembers that the API refused the prompt's cache mark.
	unmarked atomic.Bool

	mu    sync.Mutex
	empty string // the working folder of tasks without a tree; empty before the first
}

// New returns an engine for the configuration. A missing program is an error of Run.
func New(c Config) *Engine {
	if c.MaxTurns <= 0 {
		c.MaxTurns = DefaultTurns
	}
	return &Engine{Config: c, records: records{folder: c.Transcripts, now: c.Now}, secrets: secrets(c.Env)}
}

// Info names the model and the host that gets the code.
func (e *Engine) Info() engine.Info {
	model := cmp.Or(e.Model, "its default model")
	return engine.Info{
		Name: "claude", Who: model + "@" + e.Host, WantsTree: true,
		Line: fmt.Sprintf("claude code, %s (%s) → %s", model, e.Why, e.Host),
	}
}

// emptyFolder returns the working folder of tasks without a tree. All sessions share it, because its name is in the
// text that the model's server caches.
func (e *Engine) emptyFolder() (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	if e.empty == "" {
		e.empty, err = os.MkdirTemp("", "precedent-tree-")
	}
	return e.empty, err
}

// Close removes the empty folder. No task may be running.
func (e *Engine) Close() error { return os.RemoveAll(e.empty) }

// Run does the task in one session, and in up to two more if the answer cannot be used. The CLI also asks
// again by itself: a session may try only as many answers as the task has left.
func (e *Engine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.FirstByte != nil {
		t.FirstByte = sync.OnceFunc(t.FirstByte)
	}
	left := engine.MostAttempts
	return engine.Ask(ctx, t, func(ctx context.Context, t engine.Task) (engine.Reply, error) {
		r, err := e.once(ctx, t, left)
		left -= max(r.Attempts, 1)
		return r, err
	})
}

func (e *Engine) once(ctx context.Context, t engine.Task, attempts int) (engine.Reply, error) {
	dir, system := t.Tree, t.System
	if dir == "" {
		var err error
		if dir, err = e.emptyFolder(); err != nil {
			return engine.Reply{}, fmt.Errorf("make empty folder: %w", err)
		}
	}
	if t.BaseTree != "" {
		system += "\n\nYour working folder has the code at the head; the code at the base is in " + t.BaseTree + ".\n"
	}
	desk, err := os.MkdirTemp("", "precedent-claude-") // outside the tree, which the agent may read
	if err != nil {
		return engine.Reply{}, fmt.Errorf("make folder for the system prompt: %w", err)
	}
	defer func() { _ = os.RemoveAll(desk) }()
	s := session{
		Engine: e, task: t, dir: dir, system: filepath.Join(desk, "system.md"), attempts: attempts,
		marked: !e.unmarked.Load(),
	}
	if err := os.WriteFile(s.system, []byte(system), 0o600); err != nil {
		return engine.Reply{}, fmt.Errorf("write system prompt: %w", err)
	}
	reply := s.run(ctx)
	if !s.marked || reply.Status != precedent.StatusError || !strings.Contains(reply.Message, "cache_control") {
		return reply, nil
	}
	// The API refused the cache marks, because this CLI sets other ones than expected. A
	// review without a cache is better than none.
	e.unmarked.Store(true)
	s.marked = false
	again := s.run(ctx)
	again.Usage.Add(reply.Usage)
	again.CostUSD += reply.CostUSD
	again.Attempts += reply.Attempts
	return again, nil
}
