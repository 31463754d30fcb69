package workflow

import (
	"context"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/gate"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/text"
)

// gate builds and tests the head. If that fails, it comments and is false: nothing is reviewed.
// What it found otherwise is part of the review.
func (x *round) gate(ctx context.Context, p *PreparedPull) (bool, error) {
	if x.o.Gate == nil || p.state.patched {
		return true, nil
	}
	result, err := x.pub.pull.runGate(ctx, x.o.Gate, p.state.subject, p.state.rg.Head, p.Input.Policy.Gate)
	if err != nil {
		return false, err
	}
	if !result.Blocks {
		p.gate = gateResult(result)
		return true, nil
	}
	x.did.Why = "the gate failed"
	name, why := "", ""
	if c, ok := result.Failure(); ok {
		name, why = c.Line, c.Why
	}
	head := x.pub.pull.Head.SHA
	return false, x.say(ctx, comment.GateFailed, "gate."+head, x.pub.pull.reviewer.NewID(), comment.Note{
		Lead:  fmt.Sprintf("**The build or the tests fail** at `%s`, so that nothing was reviewed.", shortID(head)),
		Items: []comment.NoteItem{{Name: name, Words: why}}, Log: result.Tail(),
	})
}

// runGate exports a tree, of the head or of a change to it, and runs the commands that the base
// names.
func (p *Pull) runGate(ctx context.Context, g *gate.Runner, s subject, rev string, policy precedent.Gate) (gate.Result, error) {
	base := FilesAt(s.blobs, s.rg.BaseCommit)
	return p.reviewer.runExported(ctx, s.repo, g, gate.Request{
		Repo: p.repo.Repo, Base: s.rg.BaseCommit, Read: base, Trust: gate.Pull, Policy: policy, Commands: gate.Discover(policy, gate.ReadDocuments(base)),
	}, rev)
}

// maxGateFile bounds a file of a tree that is built, in bytes: forges take none that is larger.
const maxGateFile = 100 << 20

// lacking says which files an export left out, such as submodules and what a partial clone lacks.
func lacking(report git.ExportReport) string {
	if len(report.Skipped) == 0 {
		return ""
	}
	first := report.Skipped[0]
	return fmt.Sprintf("%s missing in the sandbox, such as %s: %s", count(len(report.Skipped), "file is", "files are"), text.Cut(text.VisibleLine(first.Path), 80), first.Reason)
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
