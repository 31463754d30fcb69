// Package claude is the engine that asks Claude Code, Anthropic's agent on the
// command line. The agent may look at the change's tree, in a copy without any
// file that would steer the agent itself, with three tools that only read. It
// runs no command, reaches no other server than the model's, reads no settings
// of the repository, and does not outlive its task.
//
// The change is hostile, and so is all that the agent reads: see args.go for
// what each flag and variable keeps out.
package claude

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
)

// Config is what the engine needs.
type Config struct {
	Program  string // the CLI's absolute path
	Model    string // as the CLI spells it; empty for its own default
	MaxTurns int    // most requests of one session; DefaultTurns if not positive
	// Env is the CLI's environment, from an allow-list: HOME, PATH, the key of
	// the model and its base URL if it has one. The engine adds variables of
	// its own, see args.go.
	Env  []string
	Host string // where the code goes, for people
	Why  string // why this engine was chosen: "claude is in PATH"
	// Transcripts is the folder that gets the newest transcripts, made when
	// needed; empty for none. They hold the prompts, code included.
	Transcripts string
	Now         func() time.Time
	// Budget bounds the sessions; nil means no bound. What is left of its dollars
	// is the CLI's own bound for one session, too.
	Budget *engine.Budget
}

// DefaultTurns is enough to read a dozen files in a row before answering.
const DefaultTurns = 30

// mostStream bounds what one session may write: its messages hold all the files
// that it read, and some of them twice.
const mostStream = 32 << 20

// Engine asks Claude Code. It is safe for concurrent use. Close it.
type Engine struct {
	Config
	copies  copies
	records records
	secrets []string
}

// New returns an engine for the configuration. That the program is missing
// shows when it is asked.
func New(c Config) *Engine {
	if c.MaxTurns <= 0 {
		c.MaxTurns = DefaultTurns
	}
	return &Engine{Config: c, records: records{folder: c.Transcripts, now: c.Now}, secrets: secrets(c.Env)}
}

// Info names the model and the host that gets the code.
func (e *Engine) Info() engine.Info {
	model := e.Model
	if model == "" {
		model = "its default model"
	}
	return engine.Info{
		Name:      "claude",
		Who:       model + "@" + e.Host,
		Line:      fmt.Sprintf("claude code, %s (%s) → %s", model, e.Why, e.Host),
		WantsTree: true,
	}
}

// Close removes the copies of trees. No task may be under way.
func (e *Engine) Close() error { return e.copies.remove() }

// Run does the task in a session of its own, and in up to two more if the
// answer cannot be used.
func (e *Engine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.FirstByte != nil {
		t.FirstByte = sync.OnceFunc(t.FirstByte)
	}
	return engine.Ask(ctx, t, e.once)
}

func (e *Engine) once(ctx context.Context, t engine.Task) (engine.Reply, error) {
	dir, err := e.copies.of(ctx, t.Tree)
	if err != nil {
		if ctx.Err() != nil {
			return failed("the session was ended"), nil
		}
		return failed("the tree cannot be copied: %v", err), nil
	}
	desk, err := os.MkdirTemp("", "precedent-claude-") // outside the copy, which the agent may read
	if err != nil {
		return engine.Reply{}, fmt.Errorf("make folder for the system prompt: %w", err)
	}
	defer func() { _ = os.RemoveAll(desk) }()
	system := filepath.Join(desk, "system.md")
	if err := os.WriteFile(system, []byte(t.System), 0o600); err != nil {
		return engine.Reply{}, fmt.Errorf("write system prompt: %w", err)
	}

	prompt := t.User()
	if strings.HasPrefix(strings.TrimSpace(prompt), "/") {
		prompt = "The task:\n\n" + prompt // or it would be a command to the CLI
	}
	settle, left, err := e.reserve(ctx, len(t.System)+len(prompt))
	if err != nil {
		return engine.Reply{Status: precedent.StatusOverBudget, Message: err.Error()}, nil
	}
	live := watcher{began: t.FirstByte}
	r, err := child.Run(ctx, child.Program{
		Path: e.Program, Dir: dir,
		Args: arguments(e.Model, e.MaxTurns, left, system, t.Schema), Env: environment(e.Env),
		Input: strings.NewReader(prompt), Most: mostStream, Watch: live.see,
	})
	if err != nil {
		settle(0, 0)
		return failed("cannot be started: %v", err), nil
	}
	r.Output, r.Stderr = scrub(r.Output, e.secrets), string(scrub([]byte(r.Stderr), e.secrets))
	reply := read(r.Output)
	settle(reply.Usage.InputTokens+reply.Usage.OutputTokens, reply.CostUSD)
	switch {
	case r.Full:
		reply.Status, reply.Message = precedent.StatusTruncated, fmt.Sprintf("Claude Code wrote more than %d MiB and was ended", mostStream>>20)
	case live.problem != nil:
		reply.Status, reply.Message = precedent.StatusError, "Claude Code was ended: "+live.problem.Error()
	case ctx.Err() != nil:
		reply.Status, reply.Message = precedent.StatusError, "the session was ended"
	case reply.Status == "" && r.Err != nil:
		reply.Status, reply.Message = precedent.StatusError, fmt.Sprintf("Claude Code: %v%s", r.Err, after(": ", r.Stderr))
	case reply.Status == "":
		reply.Status, reply.Message = precedent.StatusError, "Claude Code ended without a result"+after(": ", r.Stderr)
	case r.Err != nil && reply.Status == precedent.StatusOK:
		reply.Status, reply.Message = precedent.StatusError, fmt.Sprintf("Claude Code: %v after its result%s", r.Err, after(": ", r.Stderr))
	}
	if reply.Status != precedent.StatusOK {
		reply.Output = nil
	}
	e.records.keep(t, prompt, reply, r.Output)
	return reply, nil
}

// sessionUSD is set aside for a session before it is known what it takes.
const sessionUSD = 0.05

// reserve asks the budget for a session with so many characters to read. left is
// what the session may spend in dollars, 0 for no bound.
func (e *Engine) reserve(ctx context.Context, chars int) (settle func(int, float64), left float64, err error) {
	const charsPerToken = 4 // as providers give it for English and code
	if e.Budget == nil {
		return func(int, float64) {}, 0, nil
	}
	if settle, err = e.Budget.Reserve(ctx, chars/charsPerToken, sessionUSD); err != nil {
		return nil, 0, err
	}
	if _, spent := e.Budget.Spent(); e.Budget.USD > 0 {
		left = max(e.Budget.USD-spent, 0) + sessionUSD
	}
	return settle, left, nil
}

func failed(format string, args ...any) engine.Reply {
	return engine.Reply{Status: precedent.StatusError, Message: "Claude Code: " + fmt.Sprintf(format, args...)}
}

// after puts the separator before a text that is not empty.
func after(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
