package claude

import (
	"bytes"
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/child"
	"github.com/precedent-dev/precedent/internal/engine"
)

// session is one run of the CLI.
type session struct {
	*Engine
	task     engine.Task
	dir      string // the working directory
	system   string // the file of the system prompt
	attempts int    // how many answers may be tried
	marked   bool   // whether the prompt has a cache mark
}

func (s session) run(ctx context.Context) (engine.Reply, error) {
	prompt := blocks(s.task, s.marked)
	line, err := input(prompt)
	if err != nil {
		return engine.Reply{}, fmt.Errorf("write prompt: %w", err)
	}
	charge, left, err := s.reserve(ctx, len(s.task.System)+len(s.task.User()))
	if err != nil {
		return engine.Reply{Status: precedent.StatusOverBudget, Message: err.Error()}, nil
	}
	schema := s.task.Schema
	if s.attempts == 1 {
		schema = nil
	}
	live := watcher{began: s.task.FirstByte, tools: toolsFor(s.task)}
	r, err := child.Run(ctx, child.Program{
		Path: s.Program, Dir: s.dir,
		Args: arguments(s.Model, s.MaxTurns, left, s.system, s.task.BaseTree, schema, s.Learnings, toolsFor(s.task)),
		Env:  environment(s.Env, s.attempts), Input: bytes.NewReader(line), Most: mostStream, Watch: live.see,
	})
	if err != nil {
		charge(0, 0)
		message := fmt.Sprintf("Claude Code: cannot be started: %v", err)
		return engine.Reply{Status: precedent.StatusError, Message: message}, nil
	}
	r.Output, r.Stderr = scrub(r.Output, s.secrets), string(scrub([]byte(r.Stderr), s.secrets))
	reply := read(r.Output)
	charge(reply.Usage.InputTokens+reply.Usage.OutputTokens, reply.CostUSD)
	fail := func(format string, args ...any) {
		reply.Status, reply.Message = precedent.StatusError, fmt.Sprintf(format, args...)
	}
	switch {
	case r.Full:
		fail("Claude Code wrote more than %d MiB and was ended", mostStream>>20)
		reply.Status = precedent.StatusTruncated
	case live.problem != nil:
		fail("Claude Code was ended: %v", live.problem)
	case ctx.Err() != nil:
		fail("the session was ended")
	case reply.Status == "" && r.Err != nil:
		fail("Claude Code: %v%s", r.Err, prefixed(": ", r.Stderr))
	case reply.Status == "":
		fail("Claude Code ended without a result%s", prefixed(": ", r.Stderr))
	case r.Err != nil && reply.Status == precedent.StatusOK:
		fail("Claude Code: %v after its result%s", r.Err, prefixed(": ", r.Stderr))
	}
	if reply.Status != precedent.StatusOK {
		reply.Output = nil
	}
	s.records.keep(s.task, join(prompt), reply, r.Output)
	return reply, nil
}

// sessionUSD is the reservation for a session before its cost is known.
const sessionUSD = 0.05

// reserve reserves a session that reads the given number of characters. left is what
// the session may spend in dollars, 0 for no bound.
func (e *Engine) reserve(ctx context.Context, chars int) (charge func(int, float64), left float64, err error) {
	const charsPerToken = 4 // as providers give it for English and code
	if e.Budget == nil {
		return func(int, float64) {}, 0, nil
	}
	if charge, err = e.Budget.Reserve(ctx, chars/charsPerToken, sessionUSD); err != nil {
		return nil, 0, err
	}
	if _, spent := e.Budget.Spent(); e.Budget.USD > 0 {
		left = max(e.Budget.USD-spent, 0) + sessionUSD
	}
	return charge, left, nil
}

// prefixed returns the separator and the text, or "" if the text is empty.
func prefixed(separator, text string) string {
	if text == "" {
		return ""
	}
	return separator + text
}
