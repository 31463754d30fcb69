package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/pull"
	"github.com/precedent-dev/precedent/internal/report"
)

func newOutcomes(a *app) *cobra.Command {
	return a.data(&cobra.Command{
		Use:   "outcomes [NUMBER|URL]",
		Short: "Show what happened to the posted findings of a pull request",
		Long: `Outcomes reads the pull request and shows what happened to every finding that was
posted on it, with evidence: fixed, suggestion committed, declined (with the
person's words), accepted, resolved without a change, ignored (merged or closed
with the thread open), or unknown. A finding is not accepted just because no one
declined it.

The outcomes are stored in the memory. If a person with write permission dismisses
a finding, in words or with a thumbs-down reaction, it is hidden from then on, as
with precedent dismiss.

Without an argument, in a workflow, it uses the pull request of the event. Nothing
is written to the forge.`,
		Example: `  precedent outcomes 7
  precedent outcomes https://github.com/owner/name/pull/7 --json`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.outcomes(cmd.Context(), strings.Join(args, ""), settingFlags(cmd))
		},
	}, "forge", "memory_db", "repo")
}

func (a *app) outcomes(ctx context.Context, which string, flags map[string]string) error {
	op, err := a.settings(flags)
	if err != nil {
		return err
	}
	conn, err := a.connect(op)
	if err != nil {
		return err
	}
	repo, number, _, err := a.pullRepository(ctx, conn, which, op)
	if err != nil {
		return err
	}
	defer repo.Close()
	pr, err := pull.Read(ctx, a.workflow(), conn, repo, number)
	if err != nil {
		return err
	}
	defer pr.Close()
	all, err := pr.Outcomes(ctx)
	if err != nil {
		return err
	}
	return a.show(all, func(p *report.Page) { printOutcomes(p, all) })
}

func printOutcomes(p *report.Page, all []precedent.Outcome) {
	if len(all) == 0 {
		p.Para("", p.Ink(report.Faint, "Precedent posted nothing on this pull request."))
		return
	}
	count := map[precedent.OutcomeKind]int{}
	var rows [][]string
	for _, o := range all {
		count[o.Kind]++
		rows = append(rows, []string{
			p.Ink(report.Faint, o.Finding), p.Ink(report.Bold, string(o.Kind)), p.Ink(report.Plain, string(o.Severity)),
			p.Ink(report.Plain, o.Title+": "+o.Proof),
		})
	}
	p.Table(rows)
	p.Line()
	summary := fmt.Sprintf("%d posted", len(all))
	for _, kind := range precedent.OutcomeKinds {
		if n := count[kind]; n > 0 {
			summary += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	p.Say("", summary)
}
