package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

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

func (s session) run(ctx context.Context) engine.Reply {
	line := input(blocks(s.task, s.marked))
	charge, left, err := s.reserve(ctx)
	if err != nil {
		return engine.Reply{Status: precedent.StatusOverBudget, Message: err.Error()}
	}
	schema := s.task.Schema
	if s.attempts == 1 {
		schema = nil
	}
	live := watcher{
		began: s.task.FirstByte, tools: toolsFor(s.task), secrets: s.secrets,
		charge: func(tokens int, usd float64) error {
			charge(tokens, max(usd, sessionUSD))
			return s.overspent()
		},
	}
	r, err := child.Run(ctx, child.Program{
		Path: s.Program, Dir: s.dir,
		Args: arguments(s.Model, s.MaxTurns, left, s.system, s.task.BaseTree, schema, s.Learnings, toolsFor(s.task)),
		Env:  environment(s.Env, s.attempts), Input: bytes.NewReader(line), Most: mostStream, Watch: live.see,
	})
	if err != nil {
		charge(0, 0)
		message := fmt.Sprintf("Claude Code: cannot be started: %v", err)
		return engine.Reply{Status: precedent.StatusError, Message: message}
	}
	_ = live.see([]byte("\n")) // the last line may have no end
	r.Output, r.Stderr = scrub(r.Output, s.secrets), string(scrub([]byte(r.Stderr), s.secrets))
	reply := live.total()
	charge(reply.Usage.Tokens(), reply.CostUSD)
	fail := func(format string, args ...any) {
		reply.Status = precedent.StatusError
		reply.Message = strings.TrimSuffix(fmt.Sprintf(format, args...), ": ")
	}
	switch {
	case r.Full:
		fail("Claude Code wrote more than %d MiB and was ended", mostStream>>20)
		reply.Status = precedent.StatusTruncated
	case errors.Is(live.problem, engine.ErrOverBudget):
		reply.Status, reply.Message = precedent.StatusOverBudget, live.problem.Error()
	case live.problem != nil:
		fail("Claude Code was ended: %v", live.problem)
	case ctx.Err() != nil:
		fail("the session was ended")
	case reply.Status == "" && r.Err != nil:
		fail("Claude Code: %v: %s", r.Err, r.Stderr)
	case reply.Status == "":
		fail("Claude Code ended without a result: %s", r.Stderr)
	case r.Err != nil && reply.Status == precedent.StatusOK:
		fail("Claude Code: %v after its result: %s", r.Err, r.Stderr)
	}
	if reply.Status != precedent.StatusOK {
		reply.Output = nil
	}
	s.records.keep(s.task, reply, r.Output)
	return reply
}

// sessionUSD is the reservation for a session before its cost is known.
const sessionUSD = 0.05

// reserve reserves a session. left is what the session may spend in dollars, 0 for no bound.
func (s session) reserve(ctx context.Context) (charge func(int, float64), left float64, err error) {
	if s.Budget == nil {
		return func(int, float64) {}, 0, nil
	}
	if charge, err = s.Budget.Reserve(ctx, s.task.Expect(), sessionUSD); err != nil {
		return nil, 0, err
	}
	if _, spent := s.Budget.Spent(); s.Budget.USD > 0 {
		left = max(s.Budget.USD-spent, 0) + sessionUSD
	}
	return charge, left, nil
}

// overspent returns an error if all sessions together have used more than the budget: the CLI knows only its own.
func (s session) overspent() error {
	if s.Budget == nil {
		return nil
	}
	tokens, usd := s.Budget.Spent()
	if s.Budget.USD > 0 && usd > s.Budget.USD || s.Budget.Tokens > 0 && tokens > s.Budget.Tokens {
		return fmt.Errorf("%w: $%.2f and %d tokens are spent", engine.ErrOverBudget, usd, tokens)
	}
	return nil
}
