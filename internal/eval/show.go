package eval

import (
	"fmt"
	"strings"

	"github.com/precedent-dev/precedent/internal/report"
)

// Show prints the score of a run.
func (r *Result) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("changes    %d, of which %d are scored", r.Cases, r.Scored))
	for _, t := range r.Incomplete {
		p.Para("  missed      ", plain("%s, %s: %s", t.Case, t.Status, t.Why))
	}
	for _, name := range r.Missing {
		p.Para("  not scored  ", plain("%s, no candidates", name))
	}
	for _, t := range r.Degraded {
		p.Para("  scored, but ", plain("%s, %s: %s", t.Case, t.Status, t.Why))
	}
	which := "live findings"
	if r.All {
		which = "live findings and those below the threshold"
	}
	if n := len(r.Incomplete); n > 0 {
		p.Para("           ", plain("%s whose review did not finish: none of the gold remarks counts as found", plural(n, "change")))
	}
	p.Line(plain("scored     %s", which))
	p.Line(plain("intervals  95 %%, from %d resamples of the changes, seed %d", r.Resamples, r.Seed))
	p.Line(plain("spent      %s", r.Spent))

	p.Line()
	p.Line(p.Inkf(report.Bold, "By location: same file and side, at most %s apart, one to one", plural(r.Near, "line")))
	r.Location.show(p)
	if j := r.Judge; j != nil {
		p.Line()
		p.Line(p.Inkf(report.Bold, "By a judge: the same point about the same file, one to one"))
		if j.Cases > 0 {
			j.show(p)
		}
		p.Line(plain("%s judged: %s, %d too many to ask about, %d without proof",
			plural(j.Cases, "change"), plural(j.Asked, "pair"), j.LeftOut, j.Unproven))
		p.Line(plain("judge      %s", strings.Join(j.Engines, ", ")))
		for _, t := range j.Unjudged {
			p.Para("  not judged  ", plain("%s, %s: %s", t.Case, t.Status, t.Why))
		}
	}

	p.Line()
	p.Line(p.Inkf(report.Bold, "Replay: what a memory with the rejected remarks hides"))
	rows := [][]string{{"", "changes", "dismissals", "hidden", "gold", "rejected", "neither"}}
	rows = append(rows, r.OtherChanges.rows(p, "of earlier changes")...)
	rows = append(rows, r.SameChange.rows(p, "of the change itself, in-sample")...)
	p.Table(rows)
	if n := r.OtherChanges.Questions + r.SameChange.Questions; n > 0 {
		p.Para("", plain("%s whether a dismissal covers a candidate: a judge answered %d, text alone decided the others.",
			plural(n, "question"), r.OtherChanges.Answered+r.SameChange.Answered))
	}
	p.Para("", plain("%s", "Hiding a candidate that matches gold is wrong, hiding one that matches a rejected remark is right. "+
		"The dismissals of a repository's earlier changes show the effect of a memory. In-sample figures are optimistic: no memory has the dismissals of a change before its review."))
	return p.Err()
}

func (s *Score) show(p *report.Page) {
	rows := [][]string{{"", "candidates", "gold", "precision %", "recall %", "F1 %"}}
	for _, r := range append([]Row{s.Total}, s.Categories...) {
		rows = append(rows, []string{
			p.Ink(report.Plain, r.Category), fmt.Sprintf("%d of %d", r.Hits, r.Candidates),
			fmt.Sprintf("%d of %d", r.Found, r.Gold), percent(r.Precision), percent(r.Recall), percent(r.F1),
		})
	}
	p.Table(rows)
	p.Line(p.Inkf(report.Plain, "%s where experts rejected a remark", plural(s.Rejected, "candidate")))
}

// rows are rows of a table: by location and, if cases were judged, by the judge.
func (r *Replay) rows(p *report.Page, name string) [][]string {
	row := func(name string, h *Hidden) []string {
		return []string{
			p.Ink(report.Plain, name), fmt.Sprint(r.Cases), fmt.Sprint(r.Dismissals),
			fmt.Sprintf("%d of %d", h.Hidden, h.Candidates), fmt.Sprint(h.Gold), fmt.Sprint(h.Negative), fmt.Sprint(h.Neither),
		}
	}
	rows := [][]string{row(name, &r.Location)}
	if r.Judge != nil {
		rows = append(rows, row("  by the judge", r.Judge))
	}
	return rows
}

// percent formats a share as 42.9 (20–67).
func percent(r Ratio) string { return r.show(100, "%.1f", "%.0f") }

// smallPercent formats a small share as 0.34 (0.11–0.62).
func smallPercent(r Ratio) string { return r.show(100, "%.2f", "%.2f") }

// show formats a ratio and the ends of its interval, times a factor.
func (r Ratio) show(times float64, value, end string) string {
	switch {
	case r.Value == nil:
		return "–"
	case r.Low == nil:
		return fmt.Sprintf(value, times**r.Value)
	}
	return fmt.Sprintf(value+" ("+end+"–"+end+")", times**r.Value, times**r.Low, times**r.High)
}

// String formats the usage in one line.
func (s Spent) String() string {
	return fmt.Sprintf("%d requests, %d tokens in (%d cached), %d out, $%.2f", s.Requests, s.InputTokens, s.CachedTokens, s.OutputTokens, s.CostUSD)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
