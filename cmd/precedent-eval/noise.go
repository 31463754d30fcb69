package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
)

func newNoise(p *program) *cobra.Command {
	var o eval.NoiseRun
	var judged string
	cmd := p.measurement(&cobra.Command{
		Use:   "noise DIR...",
		Short: "Measure what the analyzers say about the history of repositories",
		Long: `Noise draws ranges from the first-parent history of each git repository: commits and
merges against their first parent, and some ranges of several commits. It reviews
them as precedent review does, without a model, a memory and linters, and prints the
findings by rule, how many of them are shown at the default threshold, per thousand
added lines, and what was not read.

--out writes a random sample of the shown findings with the code around them, for a
person or a model to set "right" in each line to true or false. --judged scores such
a file. docs/eval.md explains the numbers.

Exit status: 0 every range was reviewed, 2 usage or configuration error, 3 some were
not.`,
		Example: `  precedent-eval noise ~/src/app ~/src/lib --out sample.jsonl
  precedent-eval noise --judged sample.jsonl`,
		Args: cobra.ArbitraryArgs,
	}, func(cmd *cobra.Command, dirs []string, seed uint64) (measurement, error) {
		switch {
		case judged != "" && (len(dirs) > 0 || o.Out != ""):
			return measurement{}, errors.New("--judged reads a file: it cannot be used with DIR or --out")
		case judged != "":
			r, err := eval.ScoreNoise(judged)
			return measurement{r, r.Show, true}, err
		case len(dirs) == 0:
			return measurement{}, errors.New("missing argument: DIR")
		case o.Ranges < 1 || o.Jobs < 1 || o.Sample < 1:
			return measurement{}, errors.New("--ranges, --jobs and --sample: want 1 or more")
		}
		op, err := p.settings(nil)
		if err != nil {
			return measurement{}, err
		}
		o.Reviewer, o.Settings, o.Seed, o.Notice = p.reviewer(), op, seed, p.notice
		r, err := eval.MeasureNoise(cmd.Context(), dirs, o)
		return measurement{r, r.Show, r.Whole()}, err
	})
	f := cmd.Flags()
	f.IntVar(&o.Ranges, "ranges", eval.NoiseRanges, "review `N` ranges of each repository")
	f.IntVar(&o.Jobs, "jobs", 1, "review `N` ranges at a time")
	f.StringVar(&o.Out, "out", "", "write a sample of the shown findings to this `file`")
	f.IntVar(&o.Sample, "sample", eval.NoiseSample, "the sample has `N` findings")
	f.StringVar(&judged, "judged", "", "score this judged `file`")
	return cmd
}
