package llm

import (
	"context"
	"fmt"
)

// Limits bound a tool loop.
type Limits struct {
	Calls int // tool calls in all
	Bytes int // of their results in all
}

// DefaultLimits are what one finder may read beside the change: 40 calls, 1.5 MB.
var DefaultLimits = Limits{Calls: 40, Bytes: 1_500_000}

// Loop sends the request and runs the tools that the model calls until it
// answers. A tool that is not on the list, or fails, is told to the model as an
// error. At a limit the model is asked once more, without tools, for its answer;
// if it still calls, the reply ends with StopLength. The usage is the sum.
func Loop(ctx context.Context, m Model, r Request, lim Limits) (Reply, error) {
	var sum Reply
	calls, bytes := 0, 0
	for {
		reply, err := m.Send(ctx, r)
		reply.Usage.Requests = max(reply.Usage.Requests, 1)
		total := sum.Usage
		total.Add(reply.Usage)
		reply.Usage, reply.Estimated = total, reply.Estimated || sum.Estimated
		sum = reply
		if err != nil || reply.Stop != StopTools {
			return reply, err
		}
		if len(r.Tools) == 0 {
			reply.Stop = StopLength
			return reply, nil
		}
		r.FirstByte = nil // it told all it has to tell
		turn := Turn{Text: reply.Text, Calls: reply.Calls}
		for _, c := range reply.Calls {
			res := Result{ID: c.ID, Error: true}
			switch calls++; {
			case calls > lim.Calls || bytes > lim.Bytes:
				res.Text = "the limit of tool calls is reached: answer now with what you have"
			default:
				res.Text, res.Error = runTool(ctx, r.Tools, c)
			}
			bytes += len(res.Text)
			turn.Results = append(turn.Results, res)
		}
		r.Turns = append(r.Turns[:len(r.Turns):len(r.Turns)], turn)
		if ctx.Err() != nil {
			return reply, ctx.Err()
		}
		if calls > lim.Calls || bytes > lim.Bytes {
			r.Tools = nil
		}
	}
}

func runTool(ctx context.Context, tools []Tool, c Call) (text string, failed bool) {
	for _, t := range tools {
		if t.Name != c.Name {
			continue
		}
		text, err := t.Run(ctx, c.Args)
		if err != nil {
			return "error: " + err.Error(), true
		}
		return text, false
	}
	return fmt.Sprintf("error: there is no tool %q", cut(c.Name, 60)), true
}
