package main

import (
	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newExplain(a *app) *cobra.Command {
	var without []string
	cmd := &cobra.Command{
		Use:   "explain FINDING",
		Short: "Explain why a finding was shown or hidden",
		Long: `Explain prints why the finding whose ID begins with FINDING was shown or hidden in
the last review that saw it: which finder reported it, how its place was found,
what it was merged with, what changed its confidence, which memory influenced it,
and the threshold at the time.

With --without, the decisions are made again from what is stored with the review, as
if a memory had not been there, and both outcomes are printed. No engine is asked: if
a finding was hidden before a verifier read it, its outcome is not known, and its
confidence before verification is given. Insights, and learnings as far as only
finders read them, are such a case, too.`,
		Example: `  precedent explain k7m2q0v5xa
  precedent explain k7m --json
  precedent explain k7m --without 0197f3d2`,
		Args:              exactly(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, args []string, w *workspace.Workspace) error {
			e, err := w.Explain(cmd.Context(), args[0], without)
			if err != nil {
				return err
			}
			return a.show(e, func(p *report.Page) { report.Explain(p, e) })
		})),
	}
	cmd.Flags().StringSliceVar(&without, "without", nil,
		"decide again without these `IDS` of memories or of dismissed findings")
	return a.data(cmd, memorySettings...)
}
