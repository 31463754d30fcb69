package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/report"
)

// measurement is a result, the function that prints it, and whether everything was measured.
type measurement struct {
	result any
	show   func(*report.Page) error
	whole  bool
}

// measurement completes a command that runs a measurement and prints it. Unless
// the command says otherwise, it takes one argument.
func (p *program) measurement(cmd *cobra.Command, run func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error)) *cobra.Command {
	if cmd.Args == nil {
		cmd.Args = cobra.ExactArgs(1)
	}
	seed := cmd.Flags().Uint64("seed", 1, "the `number` that seeds all random choices")
	asJSON := cmd.Flags().Bool("json", false, "print as JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		m, err := run(cmd, args, *seed)
		switch {
		case err != nil:
			return err
		case *asJSON:
			err = report.Value(p.out, m.result)
		default:
			err = m.show(p.page())
		}
		if err == nil && !m.whole {
			return errIncomplete
		}
		return err
	}
	return cmd
}

func newAnchor(p *program) *cobra.Command {
	var noisy bool
	cmd := p.measurement(&cobra.Command{
		Use:   "anchor DIR",
		Short: "Measure whether findings are placed on the right lines",
		Long: `Anchor reads each folder in DIR with a diff.patch and a meta.json whose "gold" lists
lines that people commented on. It quotes those lines with a wrong number and
counts where the quotes are placed. --noisy also changes them as models do.`,
		Example: "  precedent-eval anchor ./changes --noisy --json",
	}, func(_ *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		r, err := eval.Anchor(dirs[0], noisy, seed)
		return measurement{r, r.Show, true}, err
	})
	cmd.Flags().BoolVar(&noisy, "noisy", false, "change numbers and quotes as models do")
	return cmd
}

func newDedup(p *program) *cobra.Command {
	cmd := p.measurement(&cobra.Command{
		Use:   "dedup DIR",
		Short: "Measure whether duplicate findings are merged",
		Long: `Dedup reads pairs of remarks that people labelled as the same or not, from
pairs.json or pairs.jsonl in DIR, or as IDs of review comments. It scores what the
merge stage decides about them: precision, recall and F1 with intervals, the share
of pairs that it leaves to a judge, and the similarity of texts alone. In folders
with diff.patch and meta.json, every two accepted remarks about one file are
distinct. docs/eval.md explains the formats and the numbers.

With --engine, that engine judges the pairs that are left to a judge.

Exit status: 0 measured, 2 usage or configuration error, 3 the judge did not
answer everything.`,
		Example: `  precedent-eval dedup ./remarks
  precedent-eval dedup ./remarks --engine anthropic --max-cost 1 --json`,
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		judge, end, err := p.judge(cmd)
		if err != nil {
			return measurement{}, err
		}
		defer end()
		r, err := eval.MeasureDedup(cmd.Context(), dirs[0], judge, seed)
		return measurement{r, r.Show, r.Judging.Whole()}, err
	})
	addSettings(cmd, engineSettings...)
	return cmd
}

func newCluster(p *program) *cobra.Command {
	return p.measurement(&cobra.Command{
		Use:   "cluster DIR",
		Short: "Measure whether findings of different changes are grouped into patterns",
		Long: `Cluster reads pairs of remarks in the formats of dedup, groups all remarks of a
project by their titles as memory consolidate does, and prints which pairs come
together: precision, recall and F1 with intervals, for the similarity that is used
and for others around it. docs/eval.md explains the numbers.`,
		Example: "  precedent-eval cluster ./remarks\n  precedent-eval cluster ./remarks --seed 2 --json",
	}, func(_ *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		r, err := eval.MeasureCluster(dirs[0], seed)
		return measurement{r, r.Show, true}, err
	})
}

func newSuppress(p *program) *cobra.Command {
	var draws int
	cmd := p.measurement(&cobra.Command{
		Use:   "suppress DIR",
		Short: "Measure whether dismissals hide the findings that they cover",
		Long: `Suppress reads dismissals, later findings, and labels that say which findings the
dismissals cover, from cases.json or cases.jsonl in DIR, or as pairs of review
comments. It prints how many of the covered findings are hidden, how many others
are, and how that grows with the number of dismissals. In folders with diff.patch
and meta.json, the remarks of other changes are dismissed, and the accepted ones
are not covered. docs/eval.md explains the formats and the numbers.

With --engine, that engine answers what a review would ask a judge.

Exit status: 0 measured, 2 usage or configuration error, 3 the judge did not
answer everything.`,
		Example: `  precedent-eval suppress ./remarks
  precedent-eval suppress ./remarks --engine anthropic --max-cost 5 --json`,
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		judge, end, err := p.judge(cmd)
		if err != nil {
			return measurement{}, err
		}
		defer end()
		if judge != nil && !cmd.Flags().Changed("draws") {
			draws = eval.JudgedDraws
		}
		if draws < 1 {
			return measurement{}, errors.New("--draws: want 1 or more")
		}
		r, err := eval.MeasureSuppress(cmd.Context(), dirs[0], judge, draws, seed)
		return measurement{r, r.Show, r.Judging.Whole()}, err
	})
	cmd.Flags().IntVar(&draws, "draws", eval.Draws, fmt.Sprintf("draw dismissals `N` times for each change; with --engine %d, unless it is given", eval.JudgedDraws))
	addSettings(cmd, engineSettings...)
	return cmd
}

func newReview(p *program) *cobra.Command {
	o := eval.Run{Notice: p.notice}
	cmd := p.measurement(&cobra.Command{
		Use:   "review DIR",
		Short: "Measure what the finders find, and what dismissals hide",
		Long: `Review reads each folder in DIR with a diff.patch and a meta.json whose "gold" lists
remarks that experts accepted and whose "negative" lists those that they rejected.
It reviews the changes one after the other, writes the findings to the file given
with --out, one line of JSON per change, has the engine judge which remarks make
the same point, and scores both: precision, recall and F1 with intervals. Then it
replays the rejected remarks as dismissals in a memory, and prints what they hide.
docs/eval.md explains the numbers.

--candidates scores such a file again without an engine; with --judge and --out,
an engine judges it again. --max-cost and --max-tokens limit the whole run: when a
limit is reached, the run stops, and --resume continues it.

Exit status: 0 every change was scored, 2 usage or configuration error, 3 some
were not.`,
		Example: `  precedent-eval review ./changes --engine anthropic --max-cost 20 --max-tokens 20000000 --out found.jsonl
  precedent-eval review ./changes --engine anthropic --out found.jsonl --resume
  precedent-eval review ./changes --candidates found.jsonl --near 3 --json`,
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		flags := given(cmd)
		o.Seed, o.Judge = seed, o.Judge || o.Candidates == "" && !cmd.Flags().Changed("judge")
		if err := o.Check(len(flags) > 0); err != nil {
			return measurement{}, err
		}
		var v *eval.Reviewer
		if o.Asks() {
			var end func()
			var err error
			if v, end, err = p.engine(flags); err != nil {
				return measurement{}, err
			}
			defer end()
		}
		r, err := eval.MeasureReview(cmd.Context(), dirs[0], o, v)
		return measurement{r, r.Show, r.Whole()}, err
	})
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", "", "write the findings to this `file`")
	f.StringVar(&o.Candidates, "candidates", "", "score this `file` instead of reviewing")
	f.BoolVar(&o.Resume, "resume", false, "continue with the file of --out; changes that are complete in it are not reviewed again")
	f.BoolVar(&o.Judge, "judge", false, "have the engine judge which remarks make the same point (default unless --candidates is given)")
	f.IntVar(&o.Near, "near", eval.BenchmarkDistance, "by location, match remarks that are at most this many `lines` apart")
	f.BoolVar(&o.All, "all", false, "also score findings below the threshold")
	addSettings(cmd, append(engineSettings, "threshold")...)
	return cmd
}

func newThreshold(p *program) *cobra.Command {
	cmd := p.measurement(&cobra.Command{
		Use:   "threshold",
		Short: "Measure whether the tuned threshold shows what teams accept",
		Long: `Threshold simulates 200 repositories, in which teams accept or decline 400 findings
each, and compares what a fixed threshold, the simple rule and the tuner of
reviews post: how much of it is accepted, how much of
what could be posted is, and how well the confidences fit. It needs no data and
no engine, and takes about half a minute. The repositories of a seed with which the
constants of the tuner were chosen follow for comparison.`,
		Example: "  precedent-eval threshold\n  precedent-eval threshold --seed 12 --json",
		Args:    cobra.NoArgs,
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

func newPrecedents(p *program) *cobra.Command {
	return p.measurement(&cobra.Command{
		Use:   "precedents DIR...",
		Short: "Measure whether comments of people are found again",
		Long: `Precedents reads review comments from *.jsonl and *.jsonl.gz in each DIR, as GitHub's
API returns them or as pairs of a diff and what somebody wrote about it, and pairs
of comments that people labelled as the same point or not. It prints how well the
corpus finds a comment by its diff, an earlier comment of another pull request by
code and by text, and how often the right one would be cited, with intervals. It
needs no engine, and takes some minutes for thousands of comments.`,
		Example: "  precedent-eval precedents ./comments\n  precedent-eval precedents ./comments ./more --seed 2 --json",
		Args:    cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		r, err := eval.MeasurePrecedents(cmd.Context(), dirs, seed)
		return measurement{r, r.Show, true}, err
	})
}
