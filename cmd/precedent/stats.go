package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/workspace"
)

func newStats(a *app) *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show how well reviews do",
		Long: `Stats shows what the memory knows about past reviews: five measures of success with
their targets, findings by how they were shown or why they were hidden, what people
accepted by severity, category, finder and confidence, the threshold, cost, and how
learnings were used. It computes nothing that the memory does not have: without
data, it says so.

A finding counts as accepted if it was fixed, its suggestion was committed, or a
person with write permission agreed, and as rejected if such a person dismissed it.
Silence counts as neither.`,
		Example: `  precedent stats
  precedent stats --since 90d --json`,
		RunE: a.reading(a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			from, err := a.timeFlag(cmd, "since", since, -1)
			if err != nil {
				return err
			}
			s, err := w.Memory.Statistics(cmd.Context(), from)
			if err != nil {
				return err
			}
			return a.show(s, func(p *report.Page) { printStatistics(p, &s) })
		})),
	}
	cmd.Flags().StringVar(&since, "since", "",
		"only reviews and answers since `TIME`: "+timeForms)
	return a.data(cmd, memorySettings...)
}

// timeForms are what timeFlag reads.
const timeForms = "a number of days such as 90d or of months such as 18m, or a date such as 2027-01-31"

// timeFlag reads the value of a flag: a date, or a number of days or months that is before now or, if sign is 1, after
// now. An empty value is the zero time.
func (a *app) timeFlag(cmd *cobra.Command, flag, value string, sign int) (time.Time, error) {
	const maxDays, maxMonths = 36_500, 1_200 // a hundred years, so that it is a time
	if value = strings.TrimSpace(value); value == "" {
		return time.Time{}, nil
	}
	last := len(value) - 1
	n, err := strconv.Atoi(value[:last])
	switch at, wrong := time.Parse(time.DateOnly, value); {
	case wrong == nil:
		return at, nil
	case err == nil && 0 < n && n <= maxDays && value[last] == 'd':
		return a.now().AddDate(0, 0, sign*n), nil
	case err == nil && 0 < n && n <= maxMonths && value[last] == 'm':
		return a.now().AddDate(0, sign*n, 0), nil
	}
	return time.Time{}, misuse(cmd, fmt.Errorf("--%s %q: want %s", flag, value, timeForms))
}

type statsPage struct {
	*report.Page
	s *memory.Statistics
}

func printStatistics(p *report.Page, s *memory.Statistics) {
	sp := statsPage{p, s}
	if s.Reviews == 0 {
		p.Say("", "no data yet: it comes from reviews of this repository, and from what people do with posted findings")
		return
	}
	sp.measures()
	p.Line()
	sp.reviews()
	sp.acceptance()
	sp.calibration()
	sp.memory()
}

func (p statsPage) barColumns() int { return min(max(p.Columns()/4, 8), 30) }

func (p statsPage) head(title string) { p.Line(p.Ink(report.Bold, title)) }

// measures prints the success measures, each with its target.
func (p statsPage) measures() {
	var rows [][]string
	empty := 0
	for _, m := range p.s.Measures {
		if m.Value == nil {
			empty++
			continue
		}
		verdict := "below the target"
		if m.Met() {
			verdict = "reached"
		}
		value, bar, target := percentText(*m.Value), report.Bar(*m.Value, p.barColumns()), percentText(m.Target)
		if m.Target > 1 { // times, not a share
			value, bar, target = fmt.Sprintf("×%.1f", *m.Value), report.Bar(*m.Value/m.Target,
				p.barColumns()), fmt.Sprintf("×%g", m.Target)
		}
		rows = append(rows, []string{
			p.Ink(report.Bold, value), bar, p.Ink(report.Faint, "target "+target),
			p.Inkf(report.Plain, "%s (%d %s) %s", m.Name, m.Samples, m.Of, verdict),
		})
	}
	if len(rows) > 0 {
		p.head("measures of success")
		p.Table(rows)
	}
	if empty > 0 {
		p.Para("", p.Inkf(report.Faint, "no data yet for %s of success: it comes from answers to reviews of pull requests",
			plural(empty, "measure")))
	}
}

func percentText(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// reviews prints what was reviewed, shown and hidden, and at what cost.
func (p statsPage) reviews() {
	s := p.s
	p.Sayf("reviews     ", "%d, %d of them by a model and %d with a guide; %s, %.1f reviewed heads each", s.Reviews,
		s.WithModel, s.Guided, plural(s.Pulls, "pull request"), s.Rounds)
	if s.Usage.Requests > 0 {
		p.Sayf("cost        ", "$%.2f for %s in %s, %.0f %% of the input cached; %.0f s a review (median)",
			s.CostUSD, report.Tokens(s.Usage.Tokens()), plural(s.Usage.Requests, "request"),
			100*float64(s.Usage.CachedTokens)/float64(max(s.Usage.InputTokens, 1)), float64(s.TookMS)/1000)
	}
	p.Line()
	printCounts(p, "findings shown", s.Shown)
	printCounts(p, "findings not shown", s.Hidden)
	if s.Audited > 0 {
		p.Para("", p.Inkf(report.Faint, "%d of those that memory hid were shown folded, as an audit", s.Audited))
	}
	printCounts(p, "threads", s.Threads)
	printCounts(p, "what became of posted findings", s.Outcomes)
}

// acceptance prints what people accepted, by what it was.
func (p statsPage) acceptance() {
	for _, list := range []struct {
		title string
		rows  []memory.Answered
	}{
		{"accepted, by severity", p.s.BySeverity},
		{"accepted, by category", p.s.ByCategory},
		{"accepted, by finder", p.s.ByFinder},
	} {
		if len(list.rows) == 0 {
			continue
		}
		p.head(list.title)
		var rows [][]string
		for _, r := range list.rows {
			share := float64(r.Accepted) / float64(r.Accepted+r.Rejected)
			rows = append(rows, []string{
				"  " + p.Ink(report.Plain, r.Name), report.Bar(share, p.barColumns()),
				fmt.Sprintf("%s of %d", percentText(share), r.Accepted+r.Rejected),
			})
		}
		p.Table(rows)
		p.Line()
	}
}

// calibration prints how well confidences agree with what people accepted, and the threshold.
func (p statsPage) calibration() {
	r := p.s.ByConfidence
	p.head("confidence, and how much of it was accepted")
	var rows [][]string
	for _, b := range r.Bins {
		if b.Points > 0 {
			rows = append(rows, []string{
				fmt.Sprintf("  %.0f–%.0f", 100*b.From, 100*b.To),
				report.Bar(b.Observed, p.barColumns()), fmt.Sprintf("%s of %d, predicted %s", percentText(b.Observed), b.Points,
					percentText(b.Predicted)),
			})
		}
	}
	p.Table(rows)
	if r.Points > 0 {
		p.Sayf("  ", "calibration error %.3f (ECE), Brier score %.3f, skill %.2f", r.ECE, r.Brier, r.Skill)
		best, says := p.s.Optimal, "at least 90 %% were accepted from a threshold of %d on: %d of %s"
		if 10*best.Accepted < 9*best.Labels {
			says = "no threshold reaches 90 %%; from %d on, %d of %s were accepted"
		}
		p.Sayf("  ", says, best.Threshold, best.Accepted, plural(best.Labels, "finding"))
	}
	var steps []string
	for _, t := range p.s.Thresholds {
		steps = append(steps, fmt.Sprintf("%d from %s (%s)", t.Threshold, t.At.Format(time.DateOnly), t.From))
	}
	if n := len(steps) - maxThresholdSteps; n > 0 {
		steps = append([]string{fmt.Sprintf("%d earlier ones", n)}, steps[n:]...)
	}
	if len(steps) > 0 {
		p.Say("  ", "threshold: "+strings.Join(steps, ", "))
	}
	p.Line()
}

// maxThresholdSteps is the number of changes of the threshold that are printed.
const maxThresholdSteps = 8

func (p statsPage) memory() {
	l := p.s.Learnings
	if l != (memory.Counted{}) {
		p.head("learnings")
		p.Sayf("  ", "%d active, %d pending; loaded %s, used %s; %d of the active ones never used", l.Active, l.Pending,
			plural(l.Loaded, "time"), plural(l.Used, "time"), l.Never)
	}
	if len(p.s.People) > 0 {
		p.head("people")
		var rows [][]string
		for _, who := range p.s.People {
			rows = append(rows, []string{
				"  " + p.Ink(report.Plain, who.Login),
				p.Inkf(report.Plain, "%d accepted, %d declined, %d dismissed, %s", who.Accepted, who.Declined, who.Dismissed,
					plural(who.Preferences, "active learning")),
			})
		}
		p.Table(rows)
	}
	if len(p.s.Hotspots) > 0 {
		p.head("hotspots")
		report.Hotspots(p.Page, p.s.Hotspots)
	}
}

// printCounts prints numbers by name as a chart, the largest first; nothing if there are none.
func printCounts[K ~string](p statsPage, title string, counts map[K]int) {
	all := 0
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return
	}
	p.head(title)
	names := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var rows [][]string
	for _, name := range names {
		rows = append(rows, []string{
			"  " + p.Ink(report.Plain, string(name)),
			report.Bar(float64(counts[name])/float64(all), p.barColumns()), strconv.Itoa(counts[name]),
		})
	}
	p.Table(rows)
	p.Line()
}
