// Package api is the engine that asks a model behind an API. Besides the change, the
// model can read the repository at the pinned commit, within limits; in a task that edits, it
// reads and writes the files of the task's private copy instead. It has no tool
// that runs or reaches anything else, and no access to a forge's token.
package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
)

// Config is what the engine needs.
type Config struct {
	Model llm.Model
	Files Files      // the zero value: no tools for files
	Tools []llm.Tool // more tools, which must only read
	// Prices are the prices of models; a model without a price costs nothing, and Info.Line says so.
	Prices llm.Prices
	Budget *engine.Budget // nil means no bound
	Window int            // the model's context window in tokens; 0 for a large one
	// Why says why this engine was chosen: "ANTHROPIC_API_KEY is set".
	Why string
}

// Engine asks a model. It is safe for concurrent use.
type Engine struct {
	Config
	price  llm.Price
	priced bool
	// longest is the longest answer so far, in tokens. A model that thinks writes many times what is usual.
	longest atomic.Int64
}

// answerShare is the part of a small window that an answer may take.
const answerShare = 4

// New returns an engine for the configuration.
func New(c Config) *Engine {
	e := &Engine{Config: c}
	e.price, e.priced = c.Prices.Find(c.Model.Name())
	return e
}

// Info names the model and the host that gets the code.
func (e *Engine) Info() engine.Info {
	line := fmt.Sprintf("%s (%s) → %s", e.Model.Name(), e.Why, e.Model.Host())
	if !e.priced {
		line += ", price unknown: only tokens are counted"
	}
	info := engine.Info{Name: "api", Who: e.Model.Name() + "@" + e.Model.Host(), Line: line}
	if e.priced {
		info.Cost = e.price.Cost
	}
	return info
}

// priceOf returns the price of the model that answered, which may be a failover. An
// unknown name has the price of the model that was asked.
func (e *Engine) priceOf(model string) llm.Price {
	if p, ok := e.Prices.Find(model); ok && model != "" {
		return p
	}
	return e.price
}

// Run does a task: tool loop, repair, validation and re-asking included.
func (e *Engine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	return engine.Ask(ctx, t, e.once)
}

func (e *Engine) once(ctx context.Context, t engine.Task) (engine.Reply, error) {
	model := &metered{Model: e.Model, engine: e}
	tools := append(e.Files.tools(), e.Tools...)
	switch {
	case t.Role == engine.Judge || t.Role == engine.Insight || t.Role == engine.Answerer: // the texts are all they need
		tools = nil
	case t.Edit:
		c, err := openCopy(t.Tree)
		if err != nil {
			return engine.Reply{Status: precedent.StatusError, Message: err.Error()}, nil
		}
		defer c.close()
		tools = c.tools()
	}
	request := llm.Request{
		System: t.System, Common: t.Common, Prefix: t.Prefix, Prompt: t.Prompt, Schema: t.Schema,
		Tools: tools, FirstByte: t.FirstByte,
	}
	if e.Window > 0 {
		request.MaxTokens = min(llm.DefaultMaxTokens, e.Window/answerShare)
	}
	reply, err := llm.Loop(ctx, model, request, llm.DefaultLimits)
	out := engine.Reply{Model: reply.Model, Usage: reply.Usage, CostUSD: e.priceOf(reply.Model).Cost(reply.Usage)}
	if err != nil {
		out.Status, out.Message = statusOf(ctx, err)
		if out.Status == "" {
			return out, err
		}
		return out, nil
	}
	switch reply.Stop {
	case llm.StopRefusal:
		out.Status, out.Message = precedent.StatusRefused, "the model refused the task"
	case llm.StopLength:
		out.Status, out.Message = precedent.StatusTruncated,
			"the model ran out of room or of tool calls before its answer was whole"
	default:
		out.Status, out.Output = precedent.StatusOK, []byte(reply.Text)
	}
	return out, nil
}

// statusOf returns the status of a failed request; empty for a cancelled one.
func statusOf(ctx context.Context, err error) (precedent.Status, string) {
	var e *llm.Error
	switch {
	case errors.Is(err, engine.ErrOverBudget):
		return precedent.StatusOverBudget, err.Error()
	case errors.As(err, &e) && e.Kind == llm.KindTooLarge:
		return precedent.StatusTruncated, err.Error()
	case errors.As(err, &e) && e.Kind == llm.KindContext:
		return precedent.StatusTruncated, err.Error() + "; set the context window: --context N"
	case ctx.Err() != nil:
		return "", ""
	case errors.As(err, &e) && e.Kind == llm.KindTimeout:
		return precedent.StatusTimeout, err.Error()
	case errors.As(err, &e) && e.Kind == llm.KindAuth:
		return precedent.StatusError, err.Error() + "; check the key"
	case errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusOK):
		return precedent.StatusError, err.Error() + "; check the model's name and the server's address"
	}
	return precedent.StatusError, err.Error()
}

// metered reserves each request in the budget and then charges its actual usage.
type metered struct {
	llm.Model
	engine *Engine
}

func (m *metered) Send(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if m.engine.Budget == nil {
		return m.Model.Send(ctx, r)
	}
	expected := llm.Expect(r)
	expected.OutputTokens = max(expected.OutputTokens, int(m.engine.longest.Load()))
	charge, err := m.engine.Budget.Reserve(ctx, expected.Tokens(), m.engine.price.Cost(expected))
	if err != nil {
		return llm.Reply{}, err
	}
	reply, err := m.Model.Send(ctx, r)
	charge(reply.Usage.Tokens(), m.engine.priceOf(reply.Model).Cost(reply.Usage))
	if out := int64(reply.Usage.OutputTokens); reply.Usage.Requests == 1 && out > m.engine.longest.Load() {
		m.engine.longest.Store(out)
	}
	return reply, err
}
