package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
)

func newEvalThreshold(a *app) *cobra.Command {
	cmd := a.measurementCommand(&cobra.Command{
		Use:   "threshold",
		Short: "Measure whether the tuned threshold shows what teams accept",
		Long: `Threshold simulates 200 repositories, in which teams accept or decline 400 findings
each, and compares what a fixed threshold, the simple rule, credit with Thompson
sampling, and the tuner of reviews post: how much of it is accepted, how much of
what could be posted is, and how well the confidences fit. It needs no data and
no engine, and takes about half a minute. The repositories of a seed with which the
constants of the tuner were chosen follow for comparison. docs/eval.md explains the
numbers.`,
		Example: "  precedent eval threshold\n  precedent eval threshold --seed 12 --json",
		Args:    exactly(0),
	}, func(_ *cobra.Command, _ []string, seed uint64) (measurement, error) {
		r := eval.MeasureThresholds(seed)
		return measurement{r, r.Show, true}, nil
	})
	seed := cmd.Flags().Lookup("seed")
	seed.DefValue = strconv.Itoa(eval.HeldOutSeed)
	if err := seed.Value.Set(seed.DefValue); err != nil {
		panic(err) // the constant is a number
	}
	return cmd
}
