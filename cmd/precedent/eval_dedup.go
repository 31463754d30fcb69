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

func newEvalDedup(a *app) *cobra.Command {
	var asJSON bool
	var seed uint64
	cmd := &cobra.Command{
		Use:   "dedup DIR",
		Short: "Measure whether remarks that say the same become one",
		Long: `Dedup reads pairs of remarks of which people said whether they are the same, from
pairs.json or pairs.jsonl in DIR, or as ids of review comments. It scores what the
merge stage decides about them: precision, recall and F1 with intervals, the share
of pairs that it leaves to a judge, and the similarity of texts alone. Of folders
with diff.patch and meta.json it takes every two accepted remarks of one file as
distinct. docs/eval.md explains the forms and the numbers.

With --engine that engine judges the pairs that are left to one.

Exit status: 0 measured, 2 usage or configuration error, 3 the judge did not
answer to the end.`,
		Example: `  precedent eval dedup ./remarks
  precedent eval dedup ./remarks --engine anthropic --max-cost 1 --json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags, err := judgeFlags(cmd)
			if err != nil {
				return err
			}
			return a.evalDedup(cmd.Context(), args[0], flags, seed, asJSON)
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "`number` that decides every draw")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, judgeSettings...)
	return cmd
}

// judgeFlags are what the command line says of an engine that judges: nothing,
// or at least which. The settings' engine is not asked, because a measurement
// that costs is to be asked for.
func judgeFlags(cmd *cobra.Command) (map[string]string, error) {
	flags := settingFlags(cmd)
	if len(flags) > 0 && flags["engine"] == "" {
		return nil, misuse(cmd, errors.New("no engine is asked: add --engine, or leave out what is about engines"))
	}
	return flags, nil
}

// judge makes the engine that judges for a measurement, nil if none was named.
func (a *app) judge(flags map[string]string) (*eval.Reviewer, func(), error) {
	end := func() {}
	if len(flags) == 0 {
		return nil, end, nil
	}
	op, err := a.settings(flags)
	if err != nil {
		return nil, end, err
	}
	e, end, err := a.evalEngine(op)
	if err != nil {
		return nil, end, err
	}
	v := a.reviewer(op)
	a.notice("engine %s", e.Info().Line)
	v.Engine = e
	return &v, end, nil
}

// evalDedup reads, judges, scores and prints pairs.
func (a *app) evalDedup(ctx context.Context, dir string, flags map[string]string, seed uint64, asJSON bool) error {
	pairs, err := eval.ReadPairs(dir)
	if err != nil {
		return hinted(err, "DIR holds pairs.json or pairs.jsonl; docs/eval.md has its form, and the others that are read")
	}
	v, end, err := a.judge(flags)
	defer end()
	if err != nil {
		return err
	}
	var j *eval.Judging
	if v != nil {
		if j, err = v.JudgePairs(ctx, pairs); err != nil {
			return err
		}
	}
	r := eval.ScoreDedup(pairs, j, seed)
	if asJSON {
		err = report.Value(a.out, r)
	} else {
		err = a.showDedup(&r)
	}
	return judgedWhole(err, j)
}

func (a *app) showDedup(r *eval.Dedup) error {
	p := a.page()
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("pairs      %d of %s, %d are the same", r.Pairs, plural(r.Changes, "change"), r.Same))
	if r.Apart > 0 {
		p.Para("           ", plain("%d are of different changes, and compared as if their lines overlapped", r.Apart))
	}
	if r.Unknown > 0 {
		p.Para("           ", plain("%d more name a comment that is not there", r.Unknown))
	}
	p.Line(plain("intervals  95 %%, from %d resamples of the changes, seed %d", r.Resamples, r.Seed))

	p.Line()
	p.Line(p.Ink(report.Bold, "What the merge stage decides, before a judge"))
	rows := [][]string{{"", "pairs", "%", "are the same", "are distinct"}}
	for _, d := range r.Decisions {
		rows = append(rows, []string{
			string(d.Decision), fmt.Sprint(d.Pairs), fmt.Sprintf("%.1f", 100*float64(d.Pairs)/float64(max(r.Pairs, 1))),
			fmt.Sprint(d.Same), fmt.Sprint(d.Distinct),
		})
	}
	p.Table(rows)

	p.Line()
	p.Line(p.Ink(report.Bold, "What becomes one finding"))
	rows = [][]string{{"", "merged", "precision %", "recall %", "F1 %", "overlap %"}}
	rows = append(rows, mergingRow("grey kept apart", &r.Alone))
	if r.Judge != nil {
		rows = append(rows, mergingRow("grey by the judge", r.Judge))
	}
	rows = append(rows, mergingRow("grey by a judge that never errs", &r.Ideal))
	p.Table(rows)
	p.Para("", plain("%s that are distinct share a line: the last column is how many of them are merged.", plural(r.Alone.Overlapping, "pair")))
	a.showJudging(p, r.Judging)

	p.Line()
	auc := "–"
	if r.AUC != nil {
		auc = fmt.Sprintf("%.3f", *r.AUC)
	}
	p.Line(p.Inkf(report.Bold, "By similarity alone: area under the curve %s", auc))
	rows = [][]string{{"from", "merged", "precision %", "recall %", "F1 %", "overlap %"}}
	for i := range r.Thresholds {
		rows = append(rows, mergingRow(fmt.Sprintf("%.2f", r.Thresholds[i].From), &r.Thresholds[i].Merging))
	}
	p.Table(rows)
	return p.Err()
}

func mergingRow(name string, m *eval.Merging) []string {
	return []string{
		name, fmt.Sprintf("%d, %d rightly", m.Merged, m.Right),
		percentOf(m.Precision), percentOf(m.Recall), percentOf(m.F1), percentOf(m.False),
	}
}

// judgedWhole is the end of a measurement: incomplete if a judge ended early.
func judgedWhole(err error, j *eval.Judging) error {
	if err == nil && j != nil && j.Status != precedent.StatusOK {
		return exitStatus(precedent.ExitIncomplete)
	}
	return err
}

// showJudging says what was asked of a judge, if one was asked.
func (a *app) showJudging(p *report.Page, j *eval.Judging) {
	if j == nil {
		return
	}
	p.Line(p.Inkf(report.Plain, "judge      %s", j.Engine))
	p.Line(p.Inkf(report.Plain, "           %s asked, %d answered, %d yes without proof", plural(j.Asked, "pair"), j.Answered, j.Unproven))
	p.Line(p.Inkf(report.Plain, "           %s", spentLine(j.Spent)))
	if j.Status != precedent.StatusOK {
		p.Para("", p.Inkf(report.Plain, "The judge ended early, %s: %s", j.Status, j.Error))
	}
}
