package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
)

// estimateSchema is the version of the JSON form of an estimate.
const estimateSchema = "precedent.estimate/1"

// estimate is what --estimate prints as JSON.
type estimate struct {
	Schema string `json:"schema"`
	Engine string `json:"engine"` // empty for none
	Base   string `json:"base"`
	Head   string `json:"head"`
	review.Estimate
	Within bool `json:"within_budget"`
}

func withinBudget(e review.Estimate, b *engine.Budget) bool {
	if b == nil {
		return true
	}
	tokens := e.Usage.Tokens()
	return (b.Tokens == 0 || tokens <= b.Tokens) && (b.USD == 0 || e.CostUSD == nil || *e.CostUSD <= b.USD)
}

// estimateSummary describes an estimate in a few words, for the line with the engine.
func estimateSummary(e review.Estimate) string {
	kept := ""
	if e.Kept > 0 {
		kept = "; " + pluralAre(e.Kept, "answer") + " stored"
	}
	if e.Requests == 0 {
		return "nothing is sent" + kept
	}
	s := fmt.Sprintf("about %s in %s", report.Tokens(e.Usage.Tokens()),
		plural(e.Requests, "request"))
	if e.CostUSD != nil {
		s += fmt.Sprintf(", $%.2f", *e.CostUSD)
	}
	return s + kept
}

func (a *app) printEstimate(ctx context.Context, prepared *run.Prepared, asJSON bool) error {
	in, why, b := prepared.Input, prepared.Engine, prepared.Budget
	e := review.Plan(ctx, in)
	if asJSON {
		out := estimate{estimateSchema, "", in.Base, in.Head, e, withinBudget(e, b)}
		if in.Engine != nil {
			out.Engine = why
		}
		return report.Value(a.out, out)
	}
	p := a.page()
	say := func(label, format string, args ...any) {
		p.Sayf(fmt.Sprintf("%-11s", label), format, args...)
	}
	say("change", "%s ← %s, %s, +%d −%d", in.Target.Head, in.Target.Base, plural(len(in.Change.Files), "file"),
		in.Change.Added, in.Change.Removed)
	say("engine", "%s", why)
	if e.Requests == 0 && e.Kept > 0 {
		say("", "%s stored by the unfinished review: only verification is left.", plural(e.Kept, "answer"))
		return p.Err()
	}
	if e.Requests == 0 {
		say("", "No model is used: nothing is sent, at no cost.")
		return p.Err()
	}
	say("requests", "%d: %s for %s of the change", e.Requests, plural(len(e.Finders), "finder"), plural(e.Parts, "part"))
	say("", "%s", strings.Join(e.Finders, ", "))
	if e.Threads > 0 {
		say("", "and what became of %s of earlier reviews", plural(e.Threads, "finding"))
	}
	if e.Kept > 0 {
		say("", "without %s stored by the unfinished review", plural(e.Kept, "answer"))
	}
	for _, job := range e.Idle {
		say("", "without %s: %s", job.Name, job.Error)
	}
	say("tokens", "about %s in, %d %% of them from the cache; about %s out", report.Tokens(e.Usage.InputTokens),
		100*e.Usage.CachedTokens/max(e.Usage.InputTokens, 1), report.Tokens(e.Usage.OutputTokens))
	if e.CostUSD != nil {
		say("cost", "about $%.2f", *e.CostUSD)
	} else {
		say("cost", "unknown: the engine has no prices")
	}
	say("", "This does not include verification, and what the model looks up in the repository.")
	if e.Unread > 0 {
		say("unread", "%s over the limit of a review", plural(e.Unread, "hunk"))
	}
	if !withinBudget(e, b) {
		say("budget",
			"This exceeds the budget of a review ($%.2f, %s), which would end over-budget. Raise --max-cost or --max-tokens, or review a smaller change.", b.USD, report.Tokens(b.Tokens))
	}
	return p.Err()
}
