package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/report"
)

// evalOptions is what the command line of eval review says.
type evalOptions struct {
	out, candidates string
	resume, judge   bool
	asJSON          bool
	eval.Options
	flags map[string]string
}

func newEvalReview(a *app) *cobra.Command {
	o := evalOptions{Options: eval.Options{Near: eval.DefaultNear, Seed: 1}}
	cmd := &cobra.Command{
		Use:   "review DIR",
		Short: "Measure what the finders find, and what rejections hide",
		Long: `Review takes each folder in DIR with a diff.patch and a meta.json whose "gold"
lists remarks that experts accepted and whose "negative" lists those that they
rejected. It reviews the changes one after the other, writes what was found to
the file of --out, a line of JSON a change, has the engine judge which remarks
make the same point, and scores both: precision, recall and F1 with intervals.
Then it replays the rejected remarks as a memory would hold them, and says what
they hide. docs/eval.md explains the numbers.

--candidates scores such a file again and asks no engine; with --judge and --out
an engine judges it anew. --max-cost and --max-tokens bound the whole run: when
they are reached it stops, and --resume goes on.

Exit status: 0 every change was scored, 2 usage or configuration error, 3 some
were not.`,
		Example: `  precedent eval review ./changes --engine anthropic --max-cost 20 --max-tokens 20000000 --out found.jsonl
  precedent eval review ./changes --engine anthropic --out found.jsonl --resume
  precedent eval review ./changes --candidates found.jsonl --near 3 --json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.flags = settingFlags(cmd)
			if o.candidates == "" && !cmd.Flags().Changed("judge") {
				o.judge = true
			}
			if err := o.check(); err != nil {
				return misuse(cmd, err)
			}
			return a.evalReview(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write what was found to this `file`")
	f.StringVar(&o.candidates, "candidates", "", "score this `file` instead of reviewing")
	f.BoolVar(&o.resume, "resume", false, "go on with the file of --out: what is complete in it is not done again")
	f.BoolVar(&o.judge, "judge", false, "have the engine judge which remarks make the same point (default unless --candidates is given)")
	f.IntVar(&o.Near, "near", o.Near, "by location, match remarks that are at most so many `lines` apart")
	f.BoolVar(&o.All, "all", false, "score findings below the threshold, too")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "`number` that decides every draw")
	f.BoolVar(&o.asJSON, "json", false, "print as JSON")
	addSettings(cmd, "engine", "model", "context", "concurrency", "max_cost", "max_tokens", "threshold", "timeout")
	return cmd
}

// asks tells whether an engine is asked anything.
func (o *evalOptions) asks() bool { return o.candidates == "" || o.judge }

func (o *evalOptions) check() error {
	switch {
	case o.asks() && o.out == "":
		return errors.New("name the file that gets what was found: --out FILE")
	case !o.asks() && (o.out != "" || o.resume || len(o.flags) > 0):
		return errors.New("--candidates alone asks no engine and writes nothing: add --judge, or leave out --out, --resume and what is about engines")
	case o.candidates != "" && o.candidates == o.out:
		return errors.New("--candidates and --out name the same file")
	case o.Near < 0:
		return fmt.Errorf("--near %d: want 0 or more lines", o.Near)
	}
	return nil
}

// evalReview makes or reads the candidates of a data set, scores and prints them.
func (a *app) evalReview(ctx context.Context, dir string, o evalOptions) error {
	cases, err := eval.Read(dir)
	if err != nil {
		return hinted(err, "DIR holds a folder for each change, with its diff.patch and meta.json")
	}
	var file eval.File
	if o.candidates != "" {
		if file, err = eval.ReadCandidates(o.candidates); err != nil {
			return hinted(err, "--out of an earlier run has written it")
		}
	}
	if o.asks() {
		if file, err = a.collect(ctx, cases, file, o); err != nil {
			return err
		}
	}
	r, err := eval.Compute(ctx, cases, file, o.Options)
	if err != nil {
		return err
	}
	if o.asJSON {
		err = report.Value(a.out, r)
	} else {
		err = a.showEval(&r)
	}
	if err == nil && (r.Scored < r.Cases || r.Judge != nil && len(r.Judge.Unjudged) > 0) {
		return exitStatus(precedent.ExitIncomplete)
	}
	return err
}
