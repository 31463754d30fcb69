package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/settings"
)

// defaultPast is how many pull requests a replay from the forge reviews.
const defaultPast = 20

// forgeReplay are the options of a replay from the forge.
type forgeReplay struct {
	since               time.Time
	limit               int
	yes, dryRun, asJSON bool
	flags               map[string]string
}

// checkSource checks the source, and refuses the flags that only one from the forge uses.
func checkSource(cmd *cobra.Command, source string) error {
	switch source {
	case "forge":
		return nil
	case "memory":
	default:
		return misuse(cmd, fmt.Errorf("--from %q: want memory or forge", source))
	}
	only := []string{"yes", "dry-run"}
	for _, d := range settings.All {
		if d.Flag != "" && d.Key != "threshold" && !slices.Contains(memorySettings, d.Key) {
			only = append(only, d.Flag)
		}
	}
	for _, name := range only {
		if cmd.Flags().Changed(name) {
			return misuse(cmd, fmt.Errorf("--%s requires --from forge", name))
		}
	}
	return nil
}

// replayForge reviews merged pull requests again, after it has said what that costs.
func (a *app) replayForge(ctx context.Context, o forgeReplay) error {
	op, err := a.settings(o.flags)
	if err != nil {
		return err
	}
	conn, err := a.connect(op)
	if err != nil {
		return err
	}
	repo, err := a.openPullRepository(ctx, conn, precedent.Repo{}, op)
	if err != nil {
		return err
	}
	defer repo.Close()
	job, err := a.job(op, reviewOptions{})
	if err != nil {
		return err
	}
	past, err := pull.ReadPast(ctx, a.workflow(), conn, repo, o.since, o.limit, job)
	if err != nil {
		return err
	}
	e, err := past.Estimate(ctx)
	if err != nil {
		return err
	}
	if !o.asJSON {
		p := a.page()
		printPastEstimate(p, e, op.MaxCost.Value)
		if err := p.Err(); err != nil {
			return err
		}
	} else {
		a.notice("%s", pastEstimateSummary(e))
	}
	if o.dryRun {
		if o.asJSON {
			return report.Value(a.out, pull.PastReplay{Schema: pull.PastSchema, Since: o.since, Estimate: e, Pulls: []pull.PastPull{}})
		}
		return nil
	}
	if !o.yes && e.Requests > 0 {
		ok, err := a.confirm(fmt.Sprintf("Review %s?", plural(e.PullRequests, "pull request")))
		if err != nil {
			return err
		}
		if !ok {
			return errors.New("nothing was reviewed")
		}
	}
	r, err := past.Replay(ctx, e)
	if err != nil {
		return err
	}
	return a.printPast(&r, o.asJSON)
}

// printPast prints a replay. The exit status tells whether everything was read.
func (a *app) printPast(r *pull.PastReplay, asJSON bool) error {
	if asJSON {
		if err := report.Value(a.out, r); err != nil {
			return err
		}
	} else {
		p := a.page()
		printPastReplay(p, r)
		if err := p.Err(); err != nil {
			return err
		}
	}
	if r.Reviewed < len(r.Pulls) {
		return statusOf(precedent.ExitIncomplete)
	}
	return nil
}

// pastEstimateSummary describes an estimate in one line.
func pastEstimateSummary(e pull.PastEstimate) string {
	s := fmt.Sprintf("%s: %s, about %s tokens", plural(e.PullRequests, "merged pull request"), plural(e.Requests, "request"),
		thousands(e.Usage.InputTokens+e.Usage.OutputTokens))
	switch {
	case e.Requests == 0:
		return s + "; nothing is sent"
	case e.CostUSD == nil:
		return s + ", at unknown prices"
	}
	return s + fmt.Sprintf(", $%.2f", *e.CostUSD)
}

func printPastEstimate(p *report.Page, e pull.PastEstimate, limit float64) {
	say := func(label, format string, args ...any) {
		p.Para(fmt.Sprintf("%-10s", label), p.Inkf(report.Plain, format, args...))
	}
	say("estimate", "%s", pastEstimateSummary(e))
	say("", "This does not include verification, and what the model looks up in the repository.")
	if e.Engine != "" {
		say("engine", "%s", e.Engine)
	}
	if e.Kept > 0 {
		say("", "without %s stored by an earlier run", plural(e.Kept, "answer"))
	}
	if e.Failed > 0 {
		say("", "without %s that cannot be prepared", plural(e.Failed, "pull request"))
	}
	if e.CostUSD != nil && limit > 0 && *e.CostUSD > limit {
		say("budget", "This exceeds --max-cost ($%.2f for all together): the last pull requests will not be reviewed.", limit)
	}
}

func printPastReplay(p *report.Page, r *pull.PastReplay) {
	rows := [][]string{}
	row := func(ink report.Ink, cells ...any) {
		line := make([]string, len(cells))
		for i, c := range cells {
			line[i] = p.Inkf(ink, "%v", c)
		}
		rows = append(rows, line)
	}
	count := func(ink report.Ink, name string, c pull.PastCount, last string) {
		row(ink, name, c.Shown, c.Commented, c.Changed, c.Neither, c.Then, c.Again, c.New, last)
	}
	row(report.Faint, "pull", "found", "comment", "changed", "neither", "then", "again", "new", "")
	for i := range r.Pulls {
		one := &r.Pulls[i]
		last := one.Title
		switch {
		case one.Why != "":
			last = "not reviewed: " + one.Why
		case one.Verdict == precedent.Partial || one.Verdict == precedent.Failed:
			last = fmt.Sprintf("(%s) %s", one.Verdict, one.Title)
		}
		count(report.Plain, fmt.Sprintf("#%d", one.Number), one.PastCount, last)
	}
	count(report.Bold, "all", r.Total, fmt.Sprintf("%d of %d read whole, $%.2f", r.Reviewed, len(r.Pulls), r.CostUSD))
	p.Table(rows)
	say := func(format string, args ...any) { p.Para("", p.Inkf(report.Plain, format, args...)) }
	say("comment: a reviewer commented within 5 lines; changed: the lines are different in the merged tree; neither: neither is known. Agreement with comments is not precision.")
	if r.Total.Then > 0 {
		say("then: posted before the merge; people accepted %d of these and rejected %d.", r.Total.Accepted, r.Total.Rejected)
	}
	for i := range r.Pulls {
		printPastFindings(p, &r.Pulls[i])
	}
}

// printPastFindings lists the findings of a pull request that say something about people.
func printPastFindings(p *report.Page, one *pull.PastPull) {
	line := func(what string, f *pull.PastFinding) {
		became := ""
		if f.Outcome != "" {
			became = p.Inkf(report.Faint, "  (%s then)", f.Outcome)
		}
		p.Para(p.Inkf(report.Bold, "  %-9s", what)+"  ", p.Inkf(report.Plain, "#%d %s %s:%d  %s", one.Number, f.Severity, f.Path, f.Line, f.Title)+became)
	}
	for i := range one.Findings {
		f := &one.Findings[i]
		switch {
		case f.NearComment:
			line("comment", f)
		case f.Changed != nil && *f.Changed:
			line("changed", f)
		case f.Posted:
			line("again", f)
		case one.Then > 0:
			line("new", f)
		default:
			line("neither", f)
		}
	}
	for i := range one.Gone {
		line("not now", &one.Gone[i])
	}
}
