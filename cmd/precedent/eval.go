package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/report"
)

func newEval(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "eval",
		Short:   "Measure quality on folders of data",
		Example: "  precedent eval anchor ./changes\n  precedent eval review ./changes --out candidates.jsonl",
		Args:    exactly(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newEvalAnchor(a), newEvalReview(a), newEvalDedup(a), newEvalSuppress(a))
	return cmd
}

func newEvalAnchor(a *app) *cobra.Command {
	var noisy, asJSON bool
	var seed uint64
	cmd := &cobra.Command{
		Use:   "anchor DIR",
		Short: "Measure how well remarks find their lines again",
		Long: `Anchor takes each folder in DIR with a diff.patch and a meta.json whose "gold"
lists lines that people remarked on, quotes those lines with a wrong number, and
counts where the quotes are placed. --noisy also garbles them as models do.`,
		Example: "  precedent eval anchor ./changes --noisy --json",
		Args:    exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := eval.Anchor(args[0], noisy, seed)
			if err != nil {
				return hinted(err, "DIR holds a folder for each change, with its diff.patch and meta.json")
			}
			if asJSON {
				return report.Value(a.out, r)
			}
			p := a.page()
			share := func(n int) string {
				return p.Inkf(report.Plain, "%5d  %6.2f %%", n, 100*float64(n)/float64(max(r.N, 1)))
			}
			p.Line("remarks     ", p.Inkf(report.Plain, "%5d", r.N))
			p.Line("exact       ", share(r.Exact))
			p.Line("one off     ", share(r.N-r.Exact-r.Misplaced-r.Abstained))
			p.Line("misplaced   ", share(r.Misplaced))
			p.Line("abstained   ", share(r.Abstained))
			if r.Unquotable > 0 {
				p.Line(p.Ink(report.Faint, fmt.Sprintf("%d marked lines are not in the diffs and not counted", r.Unquotable)))
			}
			return p.Err()
		},
	}
	cmd.Flags().BoolVar(&noisy, "noisy", false, "garble numbers and quotes as models do")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "`number` that decides every draw")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
