package main

import (
	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workflow"
)

func newExplain(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain FINDING",
		Short: "Explain why a finding was shown or hidden",
		Long: `Explain prints why the finding whose ID begins with FINDING was shown or hidden in
the last review that saw it: which finder reported it, how its place was found,
what it was merged with, what changed its confidence, which memory influenced it,
and the threshold at the time.`,
		Example: `  precedent explain k7m2q0v5xa
  precedent explain k7m --json`,
		Args:              exactly(1),
		ValidArgsFunction: a.completeFindings,
		RunE: a.withMemory(func(cmd *cobra.Command, args []string, w *workflow.Workspace) error {
			e, err := w.Memory.Explain(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return report.Value(a.out, e)
			}
			p := a.page()
			report.Explain(p, e)
			return p.Err()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}

// shortID shortens the ID of a git object for display.
func shortID(id string) string { return id[:min(len(id), 12)] }
