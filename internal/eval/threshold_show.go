package eval

import (
	"fmt"

	"github.com/precedent-dev/precedent/internal/report"
)

// targets are those of the research behind the simulation, beside each measure.
var targets = []struct {
	name, target string
	of           func(*ThresholdResult) Ratio
}{
	{"precision up to label 60", "", func(r *ThresholdResult) Ratio { return r.Early }},
	{"precision from label 60 on", "≥ 90", func(r *ThresholdResult) Ratio { return r.Precision }},
	{"  smooth", "", func(r *ThresholdResult) Ratio { return r.Families[string(smooth)] }},
	{"  uneven", "", func(r *ThresholdResult) Ratio { return r.Families[string(uneven)] }},
	{"  drifting", "", func(r *ThresholdResult) Ratio { return r.Families[string(drifting)] }},
	{"share of the oracle's yield", "≥ 85", func(r *ThresholdResult) Ratio { return r.Yield }},
	{"feasible repositories below 88", "≤ 3", func(r *ThresholdResult) Ratio { return r.Below }},
	{"good again in 25 labels", "100", func(r *ThresholdResult) Ratio { return r.Recovered }},
	{"ECE after 100 labels", "≤ 5", func(r *ThresholdResult) Ratio { return r.ECE }},
	{"Brier skill after 100 labels", "≥ 25", func(r *ThresholdResult) Ratio { return r.Skill }},
	{"  of the true chances", "", func(r *ThresholdResult) Ratio { return r.MostSkill }},
}

// Show prints the comparison, with a target beside each figure that has one.
func (t *Thresholds) Show(p *report.Page) error {
	plain := func(format string, args ...any) string { return p.Inkf(report.Plain, format, args...) }
	p.Line(plain("intervals  95 %%, from %d resamples of the repositories", Resamples))
	for _, run := range []struct {
		title string
		*ThresholdRun
	}{{"In %", &t.Run}, {"In %, with a seed that the constants were chosen with", &t.Chosen}} {
		p.Line()
		p.Line(p.Inkf(report.Bold, "%s: seed %d, %d repositories with %d findings, %d feasible", run.title, run.Seed, run.Repos, run.Findings, run.Feasible))
		rows := [][]string{{"", "target"}}
		for _, r := range run.Rules {
			rows[0] = append(rows[0], r.Rule)
		}
		for _, m := range targets {
			row := []string{m.name, m.target}
			for i := range run.Rules {
				row = append(row, percent(m.of(&run.Rules[i])))
			}
			rows = append(rows, row)
		}
		changed := []string{"  repositories spoilt by a change", ""}
		for _, r := range run.Rules {
			changed = append(changed, fmt.Sprint(r.Changed))
		}
		p.Table(append(rows, changed))
	}
	p.Line()
	verdict := "The tuner does not beat the simple rule with this seed."
	if t.Ships {
		verdict = "The tuner beats the simple rule: it is more precise, and has fewer repositories below 88 %, with intervals apart. It posts less."
	}
	p.Para("", plain("%s", verdict))
	return p.Err()
}
