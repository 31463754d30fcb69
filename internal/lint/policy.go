package lint

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/guide"
)

// policyEdit reports changes to files that configure reviews. The review reads them
// at the base, so the change cannot benefit from its own edit, but people should
// still see it.
func policyEdit(ctx context.Context, in *Input) Result {
	c := &collect{name: "policy-edit"}
	for i := range in.Change.Files {
		f := &in.Change.Files[i]
		switch {
		case in.IsPolicyPath(f.Path):
			c.add(in.policyFinding(f, f.Path))
		case f.Status == diff.Renamed && in.IsPolicyPath(f.OldPath):
			c.add(in.policyFinding(f, f.OldPath))
		}
	}
	return c.result(ctx, nil)
}

// policyFinding reports the first added line, else the first deleted one, else the
// file as a whole.
func (in *Input) policyFinding(f *diff.File, steering string) precedent.Finding {
	out := precedent.Finding{
		Analyzer: true, Confidence: secretConfidence, Votes: 1, Verifier: precedent.Unchecked,
		Span: precedent.Span{Path: f.Path, Side: precedent.Right},
	}
	if f.Status != diff.Deleted {
		if l, ok := firstLine(f, diff.Add); ok {
			out = newFinding(f, precedent.Right, l)
		} else if l, ok := firstLine(f, diff.Delete); ok {
			out = newFinding(f, precedent.Left, l)
			out.Evidence = nil // the line is not in the head
		}
	} else {
		out.Side = precedent.Left
	}
	kind := steeringKind(steering)
	out.Category, out.Severity, out.Rule = precedent.PolicyEdit, precedent.Medium, "policy-edit"
	out.Title = title(fmt.Sprintf("The change %s %s: %s", describeEdit(f), path.Base(steering), kind.short))
	used := "This review used the version of the file at the base, so the edit does not affect it; it takes effect when the change is merged."
	if in.OwnPolicy && steering == guide.PolicyFile {
		used = "This review used the uncommitted version of the file in the work tree, so the edit affects it already; it takes effect for everyone when the change is merged."
	}
	out.Body = fmt.Sprintf("%s is %s. %s\n\n%s", steering, kind.long, used, kind.ask)
	return out
}

func firstLine(f *diff.File, op diff.Op) (diff.Line, bool) {
	for h := range f.Hunks {
		for _, l := range f.Hunks[h].Lines {
			if l.Op == op {
				return l, true
			}
		}
	}
	return diff.Line{}, false
}

func describeEdit(f *diff.File) string {
	switch f.Status {
	case diff.Added, diff.Copied:
		return "adds"
	case diff.Deleted:
		return "deletes"
	case diff.Renamed:
		return "renames"
	}
	return "edits"
}

// steeringText describes what a file configures, and what to check when it changes.
type steeringText struct{ short, long, ask string }

const askInstructions = "Check that the team wants these instructions, and that none of them tells a reviewer or an assistant to ignore problems."

func steeringKind(p string) steeringText {
	p = strings.ToLower(p)
	switch base := path.Base(p); {
	case base == "codeowners":
		return steeringText{
			"who must approve", "the list of code owners: it decides whose approval a change needs",
			"Check that no path loses an owner who should review it.",
		}
	case base == ".mcp.json":
		return steeringText{
			"tool servers of coding agents", "a list of tool servers: coding agents start the listed programs on the machine of anyone who opens the repository",
			"Check every command and address in it as carefully as code you run.",
		}
	case strings.HasPrefix(base, ".precedent.") || strings.HasPrefix(p, ".precedent/"):
		return steeringText{
			"the review policy", "the review policy: it sets the threshold, the ignored paths and the instructions for reviewers",
			"Check that it does not hide findings that the team wants to see.",
		}
	case base == "architecture.md", base == "contributing.md":
		return steeringText{"a guide for reviews", "a guide: reviews check changes against its rules", "Check that the team agrees with the changed rules."}
	case base == "claude.md", base == "agents.md", base == ".cursorrules", base == "copilot-instructions.md":
		return steeringText{"instructions for assistants", "a file of instructions for coding assistants and reviewers", askInstructions}
	}
	return steeringText{"instructions for reviews or assistants", "a file that tells assistants how to work on the code, or reviewers how to review it", askInstructions}
}
