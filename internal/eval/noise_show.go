package eval

import (
	"fmt"

	"github.com/precedent-dev/precedent/internal/report"
)

// maxEnds is how many ends of analyzers are printed; the JSON form has all.
const maxEnds = 12

// Show prints what was found.
func (n *Noise) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("ranges     %d, seed %d, %s added", n.Ranges, n.Seed, plural(n.Added, "line")))
	p.Line(plain("findings   %d, %d shown, %d of them high or critical", n.Found, n.Shown, n.Serious))
	p.Line(plain("           %s shown per thousand lines", rate(n.Shown, n.Added)))
	p.Line(plain("hunks      %d of %d read", n.Coverage.HunksRead, n.Coverage.Hunks))
	if n.Sampled > 0 {
		p.Line(plain("sample     %s", plural(n.Sampled, "finding")))
	}
	for _, f := range n.Failed {
		p.Para("  not reviewed  ", plain("%s, %s: %s", f.Dir, f.Range, f.Error))
	}

	p.Line()
	rows := [][]string{{"repository", "ranges", "lines", "findings", "shown", "per 1000"}}
	for _, r := range n.Repos {
		rows = append(rows, []string{
			p.Ink(report.Plain, r.Dir), fmt.Sprint(r.Ranges), fmt.Sprint(r.Added),
			fmt.Sprint(r.Found), fmt.Sprint(r.Shown), rate(r.Shown, r.Added),
		})
	}
	p.Table(rows)

	if len(n.Rules) > 0 {
		p.Line()
		rows = [][]string{{"rule", "severity", "findings", "shown", "per 1000", "ranges"}}
		for _, r := range n.Rules {
			rows = append(rows, []string{
				p.Ink(report.Plain, r.Analyzer+" "+r.Rule), string(r.Severity),
				fmt.Sprint(r.Found), fmt.Sprint(r.Shown), rate(r.Shown, n.Added), fmt.Sprint(r.Ranges),
			})
		}
		p.Table(rows)
	}
	n.Coverage.show(p)
	if len(n.Analyzers) > 0 {
		p.Line()
		p.Line(p.Ink(report.Bold, "Ranges in which analyzers did not read everything"))
		for _, end := range n.Analyzers[:min(len(n.Analyzers), maxEnds)] {
			p.Para(fmt.Sprintf("%5d  ", end.Ranges), plain("%s %s: %s", end.Analyzer, end.Status, end.Reason))
		}
		if more := len(n.Analyzers) - maxEnds; more > 0 {
			p.Line(plain("       and %d more", more))
		}
	}
	return p.Err()
}

func (c *NoiseCoverage) show(p *report.Page) {
	for _, list := range []struct {
		name    string
		reasons []ReasonCount
	}{{"Files that were skipped", c.Skipped}, {"Hunks that were not read", c.Truncated}} {
		if len(list.reasons) == 0 {
			continue
		}
		p.Line()
		p.Line(p.Ink(report.Bold, list.name))
		for _, r := range list.reasons {
			p.Para(fmt.Sprintf("%5d  ", r.Count), p.Ink(report.Plain, r.Reason))
		}
	}
}

// rate formats a count per thousand lines.
func rate(count, lines int) string {
	if lines == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", 1000*float64(count)/float64(lines))
}

// Show prints the score of a judged sample.
func (j *NoiseScore) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("sample     %d judged, %d not judged, of %d shown in %s", j.Judged, j.Unjudged, j.Shown, plural(j.Added, "line")))
	p.Line(plain("intervals  95 %%, Wilson"))
	p.Line()
	rows := [][]string{{"rule", "right", "precision %"}, {"all", fmt.Sprintf("%d of %d", j.Right, j.Judged), percent(j.Precision)}}
	for _, r := range j.Rules {
		rows = append(rows, []string{p.Ink(report.Plain, r.Analyzer+" "+r.Rule), fmt.Sprintf("%d of %d", r.Right, r.Judged), percent(r.Precision)})
	}
	p.Table(rows)
	p.Line()
	p.Line(plain("wrong with high or critical severity: %d of %d judged, %s in %d lines", j.SeriousWrong, j.SeriousJudged, j.FalseSerious.show(1, "%.1f", "%.1f"), falsePer))
	return p.Err()
}
