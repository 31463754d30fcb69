package round

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// gate builds and tests the head. If that fails, it comments and is false: nothing is reviewed.
// What it found otherwise is part of the review.
func (x *round) gate(ctx context.Context, p *pull.Prepared) (bool, error) {
	if x.o.Gate == nil || p.State.Patched {
		return true, nil
	}
	result, err := x.pub.Pull.RunGate(ctx, x.o.Gate, p.State.Subject, p.State.Range.Head, p.Input.Policy.Gate)
	if err != nil {
		return false, err
	}
	if !result.Blocks {
		p.Gate = gateResult(result)
		return true, nil
	}
	x.did.Why = "the gate failed"
	name, why := "", ""
	if c, ok := result.Failure(); ok {
		name, why = c.Line, c.Why
	}
	head := x.pub.Pull.Head.SHA
	return false, x.say(ctx, comment.GateFailed, "gate."+head, x.pub.Pull.Env.NewID(), comment.Note{
		Lead:  fmt.Sprintf("**The build or the tests fail** at `%s`, so that nothing was reviewed.", workspace.ShortID(head)),
		Items: []comment.NoteItem{{Name: name, Words: why}}, Log: result.Tail(),
	})
}

// gateResult is a gate's result as a review has it.
func gateResult(r gate.Result) *precedent.GateResult {
	g := &precedent.GateResult{Status: string(r.Status), Output: r.Tail()}
	if r.Why != "" {
		g.Status += ": " + r.Why
	}
	for _, c := range r.Commands {
		g.Command = c.Line
	}
	return g
}
