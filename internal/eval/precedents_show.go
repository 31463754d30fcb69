package eval

import (
	"fmt"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/report"
)

// Show prints the figures, with those to beat beside them.
func (m *Precedents) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("intervals  95 %%, from %d resamples of the pull requests, seed %d", m.Resamples, m.Seed))
	for _, t := range []struct {
		title string
		rows  []Retrieval
	}{
		{"In %: a diff finds the comment on it, by the words of the comments alone", m.Own},
		{"In %: code finds an earlier comment of another pull request that makes the same point as the one on it", m.Code},
		{"In %: what a comment says finds an earlier one of another pull request that makes the same point", m.Text},
	} {
		if len(t.rows) == 0 {
			continue
		}
		p.Line()
		p.Line(p.Inkf(report.Bold, "%s", t.title))
		rows := [][]string{{"file", "by", "queries", "MRR", "R@1", "R@5", "R@10", "to beat"}}
		for _, r := range t.rows {
			rows = append(rows, []string{
				p.Ink(report.Plain, r.File), r.Way, fmt.Sprintf("%d of %s", r.Queries, plural(r.Pulls, "pull request")),
				percent(r.MRR), percent(r.First), percent(r.Five), percent(r.Ten), r.Reference,
			})
		}
		p.Table(rows)
	}
	if len(m.Gate) == 0 {
		return p.Err()
	}
	p.Line()
	p.Line(p.Inkf(report.Bold, "In %%: what is cited without a judge, and with one that is always right"))
	rows := [][]string{{"file", "from", "chosen on", "pairs", "precision", "recall", "spurious", "recall, judged", "asked in vain"}}
	for _, g := range m.Gate {
		rows = append(rows, []string{
			p.Ink(report.Plain, g.File), fmt.Sprintf("%.2f", g.From), p.Ink(report.Plain, g.ChosenOn), fmt.Sprint(g.Pairs), percent(g.Precision),
			fmt.Sprintf("%s of %d", percent(g.Recall), g.Queries), fmt.Sprintf("%s of %d", percent(g.Spurious), g.Others), percent(g.Judged), percent(g.Asked),
		})
	}
	p.Table(rows)
	p.Para("", plain("Targets: precision at least %.0f with a recall of at least 70 and at most %.0f spurious. A judge is asked from %.2f on.",
		100*precisionTarget, 100*spuriousTarget, corpus.CandidateCosine))
	return p.Err()
}
