package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

const replayHelp = `Replay takes the stored reviews and decides again what to show: with the dismissals
and learnings that hold now, and optionally with another threshold. It compares the
result with what was shown then and with what people did: which findings would be
shown or hidden now, which of the hidden ones people had accepted, and which share of
the shown ones they accepted.

No model is asked, so it costs nothing: what finders, verifiers and judges answered
stays. If a finding was hidden before a verifier read it, its outcome is not known,
and it does not count as shown. Nothing is posted and nothing is stored.

The present memory has learned from these very reviews, so it knows more than it
could have known then: dismissed findings are hidden by their own dismissals.`

func newReplay(a *app) *cobra.Command {
	var since string
	var threshold int
	cmd := &cobra.Command{
		Use:   "replay",
		Short: "Decide past reviews again, and compare with what people did",
		Long:  replayHelp,
		Example: `  precedent replay --since 90d
  precedent replay --since 2026-01-31 --threshold 85 --json`,
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			from, err := a.timeFlag(cmd, "since", since, -1)
			if err != nil {
				return err
			}
			o := workspace.ReplayOptions{Since: from}
			if cmd.Flags().Changed("threshold") {
				if threshold < 0 || threshold > 100 {
					return misuse(cmd, fmt.Errorf("--threshold %d: want 0 to 100", threshold))
				}
				o.Threshold = &threshold
			}
			r, err := w.ReplayStored(cmd.Context(), o)
			if err != nil {
				return err
			}
			return a.show(r, func(p *report.Page) { printReplay(p, &r) })
		})),
	}
	cmd.Flags().StringVar(&since, "since", "90d",
		"only reviews since `TIME`: "+timeForms)
	cmd.Flags().IntVar(&threshold, "threshold", 0, "try another threshold, in `PERCENT`")
	return a.data(cmd, memorySettings...)
}

func printReplay(p *report.Page, r *workspace.Replay) {
	say := func(label, format string, args ...any) {
		p.Sayf(fmt.Sprintf("%-10s", label), format, args...)
	}
	say("replayed", "%s with %s", plural(r.Reviews-r.Undecided, "review"), plural(r.Findings, "finding"))
	if r.Undecided > 0 {
		say("", "%s of an earlier version of precedent cannot be decided again", plural(r.Undecided, "review"))
	}
	say("then", "%s", r.Then)
	say("now", "%s", r.Now)
	if r.Unknown > 0 {
		say("", "%s would be verified now: whether they would be shown is not known", plural(r.Unknown, "finding"))
	}
	if r.HiddenAccepted > 0 {
		p.Para(fmt.Sprintf("%-10s", "caution"), p.Inkf(report.Yellow, "%s that people accepted would be hidden",
			plural(r.HiddenAccepted, "finding")))
	}
	for _, f := range r.Changed {
		what := "hidden: " + string(f.After.Dropped)
		switch {
		case f.Unknown != "":
			what = "unknown"
		case f.After.Dropped == "":
			what = "shown"
		}
		where := "local"
		if f.PullRequest > 0 {
			where = fmt.Sprintf("#%d", f.PullRequest)
		}
		became := ""
		if f.Outcome != "" {
			became = p.Inkf(report.Faint, "  (%s)", f.Outcome)
		}
		p.Para(p.Inkf(report.Bold, "  %-8s", what)+"  ", p.Inkf(report.Plain, "%s %s %s  %s", where, f.Finding, f.Severity,
			f.Title)+became)
	}
}
