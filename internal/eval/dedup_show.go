package eval

import (
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/report"
)

// Show prints the scores.
func (r *Dedup) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("pairs      %d of %s, %d are the same", r.Pairs, plural(r.Changes, "change"), r.Same))
	if r.Apart > 0 {
		p.Para("           ", plain("%d are from different changes, and compared as if their lines overlapped", r.Apart))
	}
	if r.Unknown > 0 {
		p.Para("           ", plain("%d more refer to a missing comment", r.Unknown))
	}
	p.Line(plain("intervals  95 %%, from %d resamples of the changes, seed %d", r.Resamples, r.Seed))

	p.Line()
	p.Line(p.Ink(report.Bold, "Decisions of the merge stage, before a judge"))
	rows := [][]string{{"", "pairs", "%", "are the same", "are distinct"}}
	for _, d := range r.Decisions {
		rows = append(rows, []string{
			string(d.Decision), fmt.Sprint(d.Pairs), fmt.Sprintf("%.1f", 100*float64(d.Pairs)/float64(max(r.Pairs, 1))),
			fmt.Sprint(d.Same), fmt.Sprint(d.Distinct),
		})
	}
	p.Table(rows)

	p.Line()
	p.Line(p.Ink(report.Bold, "Merged findings"))
	rows = [][]string{{"", "merged", "precision %", "recall %", "F1 %", "overlap %"}}
	rows = append(rows, r.Alone.row("grey kept apart"))
	if r.Judge != nil {
		rows = append(rows, r.Judge.row("grey by the judge"))
	}
	rows = append(rows, r.Ideal.row("grey by a perfect judge"))
	p.Table(rows)
	p.Para("", plain("%s labelled distinct share a line; the last column is the share of them that is merged.", plural(r.Alone.Overlapping, "pair")))
	r.Judging.show(p)

	p.Line()
	auc := "–"
	if r.AUC != nil {
		auc = fmt.Sprintf("%.3f", *r.AUC)
	}
	p.Line(p.Inkf(report.Bold, "By similarity alone: area under the curve %s", auc))
	rows = [][]string{{"from", "merged", "precision %", "recall %", "F1 %", "overlap %"}}
	for i := range r.Thresholds {
		rows = append(rows, r.Thresholds[i].row(fmt.Sprintf("%.2f", r.Thresholds[i].From)))
	}
	p.Table(rows)
	return p.Err()
}

func (m *Merging) row(name string) []string {
	return []string{
		name, fmt.Sprintf("%d, %d rightly", m.Merged, m.Right), percent(m.Precision), percent(m.Recall),
		percent(m.F1), percent(m.False),
	}
}

// show prints the judge's counts, if a judge was asked.
func (j *Judging) show(p *report.Page) {
	if j == nil {
		return
	}
	p.Line(p.Inkf(report.Plain, "judge      %s", j.Engine))
	p.Line(p.Inkf(report.Plain, "           %s asked, %d answered, %d yes without proof", plural(j.Asked, "pair"), j.Answered, j.Unproven))
	p.Line(p.Inkf(report.Plain, "           %s", j.Spent))
	if j.Status != precedent.StatusOK {
		p.Para("", p.Inkf(report.Plain, "The judge ended early, %s: %s", j.Status, j.Error))
	}
}
