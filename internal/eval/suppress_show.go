package eval

import (
	"fmt"

	"github.com/precedent-dev/precedent/internal/report"
)

// Show prints the scores.
func (r *Suppress) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("cases      %d with %s and %s, %d of which are covered",
		r.Cases, plural(r.Dismissals, "dismissal"), plural(r.Findings, "finding"), r.Covered))
	p.Line(plain("drawn      for %s that nothing covers, %d times each", plural(r.Pooled, "finding"), r.Draws))
	p.Line(plain("intervals  95 %%, from %d resamples of %s, seed %d", r.Resamples, plural(r.Changes, "change"), r.Seed))

	type judged struct {
		name string
		*Suppression
	}
	by := []judged{{"text alone", &r.Text}, {"learnings instead", &r.Learned}}
	if r.Judge != nil {
		by = append(by, judged{"with the judge", r.Judge})
	}
	if r.Cases > 0 {
		p.Line()
		p.Line(p.Ink(report.Bold, "What the dismissals of a case hide"))
		rows := [][]string{{"", "covered, hidden %", "others, hidden %", "dismissed", "patterns", "audited", "lowered", "noted"}}
		serious := 0
		for _, h := range append(by, judged{"a perfect judge", &r.Ideal}) {
			serious += h.Serious
			rows = append(rows, []string{
				h.name, percent(h.Recall), percent(h.False), fmt.Sprint(h.Dismissed),
				fmt.Sprint(h.Patterns), fmt.Sprint(h.Audited), fmt.Sprint(h.Lowered), fmt.Sprint(h.Noted),
			})
		}
		p.Table(rows)
		p.Para("", plain("Retried with high severity and in a protected category: a pattern hid %d of %d.",
			serious, r.Text.Replayed*(len(by)+1)))
	}
	r.Judging.show(p)

	if len(r.Asked) > 0 {
		p.Line()
		p.Line(p.Ink(report.Bold, "What a judge is asked, with the dismissals of a case among drawn ones"))
		rows := [][]string{{"drawn", "findings", "covered, asked about %", "questions a finding"}}
		for _, a := range r.Asked {
			rows = append(rows, []string{
				fmt.Sprint(a.Others), fmt.Sprint(a.Findings), percent(a.Recall), a.Questions.show(1, "%.2f", "%.2f"),
			})
		}
		p.Table(rows)
	}

	p.Line()
	p.Line(p.Ink(report.Bold, "Findings hidden by drawn dismissals that do not cover them, in %"))
	rows := [][]string{{"dismissals", "findings"}}
	for _, h := range by {
		rows[0] = append(rows[0], h.name)
	}
	for i, d := range r.Text.Drawn {
		row := []string{fmt.Sprint(d.Memories), fmt.Sprint(d.Findings)}
		for _, h := range by {
			row = append(row, smallPercent(h.Drawn[i].False))
		}
		rows = append(rows, row)
	}
	p.Table(rows)

	p.Line()
	p.Line(p.Ink(report.Bold, "If only the similarity of title and claim decided, in %"))
	rows = [][]string{{"from", "covered", "others"}}
	for _, d := range r.Text.Drawn {
		rows[0] = append(rows[0], fmt.Sprintf("any of %d drawn", d.Memories))
	}
	for _, t := range r.Thresholds {
		row := []string{fmt.Sprintf("%.2f", t.From), percent(t.Recall), percent(t.False)}
		for _, d := range t.Drawn {
			row = append(row, smallPercent(d.False))
		}
		rows = append(rows, row)
	}
	p.Table(rows)
	return p.Err()
}
