package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent/internal/text"
)

// Limits bound a tool loop.
type Limits struct {
	Calls int // tool calls in all
	Bytes int // of their results in all
}

// DefaultLimits are what one finder may read besides the change: 40 calls, 1.5 MB.
var DefaultLimits = Limits{Calls: 40, Bytes: 1_500_000}

// Loop sends the request and runs the tools that the model calls until it answers. If a tool is unknown or
// fails, the model gets an error. At a limit the model is asked to answer with what it has, then calls are
// forbidden; if it still calls, the reply ends with StopLength. Results that do not fit into the context
// window are withdrawn once. The usage is the sum of all requests.
func Loop(ctx context.Context, m Model, r Request, lim Limits) (Reply, error) {
	var sum Reply
	calls, bytes := 0, 0
	for {
		reply, err := m.Send(ctx, r)
		e, failed := errors.AsType[*Error](err)
		if failed || err == nil { // else it was not sent
			reply.Usage.Requests = max(reply.Usage.Requests, 1)
		}
		total := sum.Usage
		total.Add(reply.Usage)
		reply.Usage = total
		sum = reply
		if failed && e.Kind == KindContext && len(r.Turns) > 0 && !r.NoCalls {
			r = withoutLastResults(r)
			continue
		}
		if err != nil || reply.Stop != StopTools {
			return reply, err
		}
		if len(r.Tools) == 0 || r.NoCalls {
			reply.Stop = StopLength
			return reply, nil
		}
		r.FirstByte = nil                              // it is called only for the first request
		told := calls > lim.Calls || bytes > lim.Bytes // and it calls again
		turn := Turn{Text: reply.Text, Reasoning: reply.Reasoning, Calls: reply.Calls}
		for _, c := range reply.Calls {
			res := Result{ID: c.ID, Text: "the limit of tool calls is reached: answer now with what you have", Error: true}
			if calls++; calls <= lim.Calls && bytes <= lim.Bytes {
				res.Text, res.Error = runTool(ctx, r.Tools, c)
			}
			bytes += len(res.Text)
			turn.Results = append(turn.Results, res)
		}
		r.Turns = append(r.Turns[:len(r.Turns):len(r.Turns)], turn)
		if ctx.Err() != nil {
			return reply, ctx.Err()
		}
		// Only now, because forbidding calls invalidates the cache of the messages.
		r.NoCalls = told
	}
}

// withoutLastResults returns the request without the results that do not fit, which asks for
// an answer with what the model has read before.
func withoutLastResults(r Request) Request {
	turns := slices.Clone(r.Turns)
	last := &turns[len(turns)-1]
	last.Results = slices.Clone(last.Results)
	for i := range last.Results {
		last.Results[i].Text = "this does not fit into the context window any more: answer now with what you have"
		last.Results[i].Error = true
	}
	r.Turns, r.NoCalls = turns, true
	return r
}

func runTool(ctx context.Context, tools []Tool, c Call) (result string, failed bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == c.Name })
	if i < 0 {
		return fmt.Sprintf("error: unknown tool %q", text.Head(c.Name, 60)), true
	}
	result, err := tools[i].Run(ctx, c.Args)
	if err != nil {
		return "error: " + err.Error(), true
	}
	return result, false
}
