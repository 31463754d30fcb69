package main

import (
	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
)

func newEvalPrecedents(a *app) *cobra.Command {
	return a.measurementCommand(&cobra.Command{
		Use:   "precedents DIR...",
		Short: "Measure whether comments of people are found again",
		Long: `Precedents reads review comments from *.jsonl and *.jsonl.gz in each DIR, as GitHub's
API returns them or as pairs of a diff and what somebody wrote about it, and pairs
of comments that people labelled as the same point or not. It prints how well the
corpus finds a comment by its diff, an earlier comment of another pull request by
code and by text, and how often the right one would be cited, with intervals. It
needs no engine, and takes some minutes for thousands of comments. docs/eval.md
explains the formats and the numbers.`,
		Example: "  precedent eval precedents ./comments\n  precedent eval precedents ./comments ./more --seed 2 --json",
		Args:    cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		r, err := eval.MeasurePrecedents(cmd.Context(), dirs, seed)
		return measurement{r, r.Show, true}, err
	})
}
