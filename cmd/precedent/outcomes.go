package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

func newOutcomes(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "outcomes [NUMBER|URL]",
		Short: "Say what became of the posted findings of a pull request",
		Long: `Outcomes looks at the pull request as it is now and says of every finding that was
posted on it what became of it, with the proof: fixed, suggestion committed,
declined (with the person's words), accepted, resolved with the code as it was,
ignored when it was merged or closed, or unknown. What nobody declined is not
accepted for that.

The memory keeps it. A "no" of somebody with write permission, in words or as a
thumb down, hides the finding from then on, as precedent dismiss does.

Without an argument, in a workflow, it is the pull request of the event. Nothing
is written to the forge.`,
		Example: `  precedent outcomes 7
  precedent outcomes https://github.com/owner/name/pull/7 --json`,
		Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			which := ""
			if len(args) == 1 {
				which = args[0]
			}
			flags := settingFlags(cmd)
			st, err := a.stationOf(flags)
			if err != nil {
				return err
			}
			return a.outcomes(cmd.Context(), st, which, flags, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, "forge", "memory_db", "repo")
	return cmd
}

// outcomes finds out what became of the posted findings, and prints it.
func (a *app) outcomes(ctx context.Context, st *station, which string, flags map[string]string, asJSON bool) error {
	op, err := a.settings(flags)
	if err != nil {
		return err
	}
	repo, number, err := a.pullRepository(ctx, st, which, op)
	if err != nil {
		return err
	}
	defer repo.Close()
	connection, err := a.connection(st)
	if err != nil {
		return err
	}
	pull, err := a.workflow().ReadPull(ctx, connection, repo, number)
	if err != nil {
		return err
	}
	defer pull.Close()
	all, err := pull.Outcomes(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return report.Value(a.out, append([]precedent.Outcome{}, all...))
	}
	p := a.page()
	printOutcomes(p, all)
	return p.Err()
}

func printOutcomes(p *report.Page, all []precedent.Outcome) {
	if len(all) == 0 {
		p.Para("", p.Ink(report.Faint, "Nothing of ours was posted on this pull request."))
		return
	}
	count := map[precedent.OutcomeKind]int{}
	var rows [][]string
	for _, o := range all {
		count[o.Kind]++
		rows = append(rows, []string{
			p.Ink(report.Faint, o.Finding), p.Ink(report.Bold, string(o.Kind)), p.Ink(report.Plain, string(o.Severity)), p.Ink(report.Plain, o.Title+": "+o.Proof),
		})
	}
	p.Table(rows)
	p.Line()
	said := fmt.Sprintf("%d posted", len(all))
	for _, kind := range precedent.OutcomeKinds {
		if n := count[kind]; n > 0 {
			said += fmt.Sprintf(", %d %s", n, kind)
		}
	}
	p.Para("", p.Ink(report.Plain, said))
}
