package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// insightLine is an insight with what its evidence says.
type insightLine struct {
	precedent.Insight
	Acceptance memory.Acceptance `json:"acceptance"`
}

func newInsights(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "insights",
		Short: "List patterns in the findings of all changes",
		Long: `Insights lists what findings of several changes have in common: the state, the
evidence, the share of findings that people accept (with the 90 % interval), and the
findings that show it. Finders are told the active ones that concern the files of a
change. An insight is active with findings in three pull requests that two people
answered, if they probably accept at least 70 %. It is paused if people reject two of
the last five, or with insights dismiss.`,
		Example: "  precedent insights\n  precedent insights dismiss k7m2q0v5xa --reason \"we changed that\"",
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			found, err := w.Memory.Rows.Insights(cmd.Context())
			if err != nil {
				return err
			}
			var lines []insightLine
			for _, i := range found {
				lines = append(lines, insightLine{i, memory.AcceptanceOf(i.Accepted, i.Rejected)})
			}
			return a.show(map[string]any{"insights": lines}, func(p *report.Page) { printInsights(p, lines) })
		})),
	}
	cmd.AddCommand(newInsightsDismiss(a))
	return a.data(cmd, memorySettings...)
}

func printInsights(p *report.Page, lines []insightLine) {
	if len(lines) == 0 {
		p.Para("", p.Ink(report.Faint, "No patterns yet: they need similar findings in several changes."))
	}
	for n, i := range lines {
		if n > 0 {
			p.Line()
		}
		p.Para(p.Ink(report.Faint, i.ID)+"  ", p.Ink(report.Bold, string(i.State))+" "+p.Ink(report.Plain, i.Text))
		detail := func(format string, args ...any) { p.Para("            ", p.Inkf(report.Faint, format, args...)) }
		where := "all files"
		if i.Scope != "" {
			where = i.Scope
		}
		detail("%s, %s; %s in %s and %s", i.Category, where, plural(len(i.Findings), "finding"),
			plural(len(i.PullRequests), "pull request"), plural(i.Changes, "change"))
		acceptance := "nobody answered yet"
		if i.Accepted+i.Rejected > 0 {
			acceptance = fmt.Sprintf("%d of %d accepted (90 %% interval %.0f to %.0f %%), by %s", i.Accepted,
				i.Accepted+i.Rejected,
				100*i.Acceptance.Low, 100*i.Acceptance.High, workspace.Count(len(i.People), "person", "people"))
		}
		detail("%s", acceptance)
		detail("shown by %s", strings.Join(i.Citations, ", "))
		if d := i.Dismissed; d != nil {
			why := ""
			if d.Reason != "" {
				why = ": " + d.Reason
			}
			detail("dismissed by %s%s", d.Who, why)
		}
	}
}

func newInsightsDismiss(a *app) *cobra.Command {
	var undo bool
	var reason string
	cmd := &cobra.Command{
		Use:     "dismiss ID",
		Short:   "Stop showing an insight to finders, or undo that",
		Example: "  precedent insights dismiss k7m2q0v5xa\n  precedent insights dismiss --undo k7m2q0v5xa",
		Args:    exactly(1),
		RunE: a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			var i precedent.Insight
			var err error
			verb := "dismissed"
			if undo {
				verb = "restored"
				i, err = w.Memory.RestoreInsight(cmd.Context(), args[0])
			} else {
				i, err = w.Memory.DismissInsight(cmd.Context(), args[0], a.user(), reason)
			}
			if err != nil {
				return err
			}
			p := a.page()
			p.Say(verb+" "+p.Ink(report.Faint, i.ID)+"  ", i.Text)
			return p.Err()
		}),
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "let the evidence decide again")
	cmd.Flags().StringVar(&reason, "reason", "", "why, in a `sentence`")
	addSettings(cmd, memorySettings...)
	return cmd
}
