package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/eval"
	"github.com/precedent-dev/precedent/internal/report"
)

// How often rejections are drawn: with an engine less often, because every draw
// asks other questions.
const (
	usualDraws  = 10
	judgedDraws = 1
)

func newEvalSuppress(a *app) *cobra.Command {
	var asJSON bool
	var seed uint64
	var draws int
	cmd := &cobra.Command{
		Use:   "suppress DIR",
		Short: "Measure whether what people declined hides what it covers",
		Long: `Suppress reads what people declined and what was found afterwards, with labels
of what the former covers, from cases.json or cases.jsonl in DIR, or as pairs of
review comments. It says how much of what is covered is hidden, how much else is,
and how that grows with the number of rejections. Of folders with diff.patch and
meta.json it takes the remarks of other changes as declined, and the accepted
ones as not covered. docs/eval.md explains the forms and the numbers.

With --engine that engine judges what a review would ask a judge.

Exit status: 0 measured, 2 usage or configuration error, 3 the judge did not
answer to the end.`,
		Example: `  precedent eval suppress ./remarks
  precedent eval suppress ./remarks --engine anthropic --max-cost 5 --json`,
		Args: exactly(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags, err := judgeFlags(cmd)
			if err != nil {
				return err
			}
			if len(flags) > 0 && !cmd.Flags().Changed("draws") {
				draws = judgedDraws
			}
			if draws < 1 {
				return misuse(cmd, errors.New("--draws: want 1 or more"))
			}
			return a.evalSuppress(cmd.Context(), args[0], flags, draws, seed, asJSON)
		},
	}
	cmd.Flags().IntVar(&draws, "draws", usualDraws, fmt.Sprintf("draw rejections `N` times for each change; with --engine %d, unless it is given", judgedDraws))
	cmd.Flags().Uint64Var(&seed, "seed", 1, "`number` that decides every draw")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, judgeSettings...)
	return cmd
}

// evalSuppress reads, judges, scores and prints what rejections hide.
func (a *app) evalSuppress(ctx context.Context, dir string, flags map[string]string, draws int, seed uint64, asJSON bool) error {
	m, err := eval.ReadMemories(dir, seed)
	if err != nil {
		return hinted(err, "DIR holds cases.json or cases.jsonl; docs/eval.md has its form, and the others that are read")
	}
	v, end, err := a.judge(flags)
	defer end()
	if err != nil {
		return err
	}
	var j *eval.Judging
	if v != nil {
		if j, err = v.JudgeMemories(ctx, m, draws, seed); err != nil {
			return err
		}
	}
	r := eval.ScoreSuppress(m, j, draws, seed)
	if asJSON {
		err = report.Value(a.out, r)
	} else {
		err = a.showSuppress(&r)
	}
	return judgedWhole(err, j)
}

func (a *app) showSuppress(r *eval.Suppress) error {
	p := a.page()
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("cases      %d with %s and %s, %d of which are covered",
		r.Cases, plural(r.Rejections, "rejection"), plural(r.Findings, "finding"), r.Covered))
	p.Line(plain("drawn      for %s that nothing covers, %d times each", plural(r.Pooled, "finding"), r.Draws))
	p.Line(plain("intervals  95 %%, from %d resamples of %s, seed %d", r.Resamples, plural(r.Changes, "change"), r.Seed))

	type judged struct {
		name string
		*eval.Suppression
	}
	by := []judged{{"text alone", &r.Text}}
	if r.Judge != nil {
		by = append(by, judged{"with the judge", r.Judge})
	}
	if r.Cases > 0 {
		p.Line()
		p.Line(p.Ink(report.Bold, "What the rejections of a case hide"))
		rows := [][]string{{"", "covered, hidden %", "others, hidden %", "dismissed", "patterns", "audited", "lowered", "noted"}}
		serious := 0
		for _, h := range append(by, judged{"a judge that never errs", &r.Ideal}) {
			serious += h.Serious
			rows = append(rows, []string{
				h.name, percentOf(h.Recall), percentOf(h.False),
				fmt.Sprint(h.Dismissed), fmt.Sprint(h.Patterns), fmt.Sprint(h.Audited), fmt.Sprint(h.Lowered), fmt.Sprint(h.Noted),
			})
		}
		p.Table(rows)
		p.Para("", plain("Tried again as high ones, and in a protected category, in %d of %d tries a pattern hid them.",
			serious, r.Text.Replayed*(len(by)+1)))
	}
	a.showJudging(p, r.Judging)

	p.Line()
	p.Line(p.Ink(report.Bold, "What drawn rejections hide that they do not cover, in %"))
	rows := [][]string{{"rejections", "findings"}}
	for _, h := range by {
		rows[0] = append(rows[0], h.name)
	}
	for i, d := range r.Text.Drawn {
		row := []string{fmt.Sprint(d.Memories), fmt.Sprint(d.Findings)}
		for _, h := range by {
			row = append(row, rareOf(h.Drawn[i].False))
		}
		rows = append(rows, row)
	}
	p.Table(rows)

	p.Line()
	p.Line(p.Ink(report.Bold, "If the similarity of title and claim alone decided, in %"))
	rows = [][]string{{"from", "covered", "others"}}
	for _, d := range r.Text.Drawn {
		rows[0] = append(rows[0], fmt.Sprintf("any of %d drawn", d.Memories))
	}
	for _, t := range r.Thresholds {
		row := []string{fmt.Sprintf("%.2f", t.From), percentOf(t.Recall), percentOf(t.False)}
		for _, d := range t.Drawn {
			row = append(row, rareOf(d.False))
		}
		rows = append(rows, row)
	}
	p.Table(rows)
	return p.Err()
}

// rareOf writes a small share, as 0.34 (0.11–0.62).
func rareOf(r eval.Ratio) string {
	switch {
	case r.Value == nil:
		return "–"
	case r.Low == nil:
		return fmt.Sprintf("%.2f", 100**r.Value)
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", 100**r.Value, 100**r.Low, 100**r.High)
}
