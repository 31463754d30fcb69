package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// How far back trends look, and how long what was computed for one page is good for others.
const (
	trendDays     = 90
	statsFor      = time.Minute
	maxStats      = 2_000
	newestAnswers = 1_000
	listedHotspot = 60
	trendPulls    = 20
)

// statsCache keeps what takes long to find out, such as the trends of a repository, for a minute.
type statsCache struct {
	now func() time.Time
	mu  sync.Mutex
	all map[string]*statsEntry
}

type statsEntry struct {
	mu    sync.Mutex
	at    time.Time
	value any
}

// cached returns a value that is at most a minute old. The caller has asked what the person may see before.
func cached[T any](c *statsCache, key string, compute func() (T, error)) (T, error) {
	c.mu.Lock()
	if c.all == nil || len(c.all) > maxStats {
		c.all = map[string]*statsEntry{}
	}
	e := c.all[key]
	if e == nil {
		e = &statsEntry{}
		c.all[key] = e
	}
	c.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if v, ok := e.value.(T); ok && c.now().Sub(e.at) < statsFor {
		return v, nil
	}
	v, err := compute()
	if err == nil {
		e.value, e.at = v, c.now()
	}
	return v, err
}

// answers says which share of the findings that people of a repository answered last they accepted.
func (c *statsCache) answers(ctx context.Context, r store.Active) (string, error) {
	return cached(c, "answers "+r.Name.String(), func() (string, error) {
		labels, err := r.Labels(ctx, newestAnswers)
		accepted := 0
		for _, l := range labels {
			if l.Accepted {
				accepted++
			}
		}
		if len(labels) == 0 {
			return "nobody answered", err
		}
		share := percent(float64(accepted) / float64(len(labels)))
		return fmt.Sprintf("%s of %s", share, thousands(len(labels))), err
	})
}

type trend struct {
	memory.Statistics
	days  []dayFacts
	first time.Duration // median from when a pull request was seen until its first review; 0 if none was
	pulls []pullCost
}

type dayFacts struct {
	day                       string
	reviews, shown, tokens    int
	cost                      float64
	accepted, declined, quiet int
}

type pullCost struct {
	pull   int
	cost   float64
	rounds int
}

func (s *Site) trend(q *request) (trend, error) {
	return cached(&s.stats, "trend "+q.repo.String(), func() (trend, error) {
		since := s.o.Now().AddDate(0, 0, -trendDays)
		statistics, reviews, outcomes, err := q.space.Memory.StatisticsOf(q.ctx(), since)
		t := trend{Statistics: statistics}
		t.addDays(reviews, outcomes)
		return t, err
	})
}

func (t *trend) addDays(reviews []store.ReviewFacts, outcomes []precedent.Outcome) {
	days, pulls := map[string]*dayFacts{}, map[int]*pullCost{}
	var firsts []int64
	of := func(at time.Time) *dayFacts {
		d := day(at)
		if days[d] == nil {
			days[d] = &dayFacts{day: d}
		}
		return days[d]
	}
	for _, r := range reviews {
		d := of(r.At)
		d.reviews++
		d.cost += r.CostUSD
		d.tokens += r.Usage.Tokens()
		d.shown += total(r.New)
		if r.FirstMS > 0 {
			firsts = append(firsts, r.FirstMS)
		}
		if r.Pull != 0 {
			if pulls[r.Pull] == nil {
				pulls[r.Pull] = &pullCost{pull: r.Pull}
			}
			pulls[r.Pull].cost += r.CostUSD
			pulls[r.Pull].rounds++
		}
	}
	if slices.Sort(firsts); len(firsts) > 0 {
		t.first = time.Duration(firsts[len(firsts)/2]) * time.Millisecond
	}
	for _, o := range outcomes {
		accepted, answered := o.Label()
		switch d := of(o.At); {
		case answered && accepted:
			d.accepted++
		case o.Kind == precedent.Declined:
			d.declined++
		case o.Kind == precedent.IgnoredAtMerge:
			d.quiet++
		}
	}
	for _, d := range slices.Sorted(maps.Keys(days)) {
		t.days = append(t.days, *days[d])
	}
	mostExpensive := func(a, b *pullCost) int { return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(b.pull, a.pull)) }
	for _, p := range slices.SortedFunc(maps.Values(pulls), mostExpensive) {
		t.pulls = append(t.pulls, *p)
	}
	t.pulls = t.pulls[:min(len(t.pulls), trendPulls)]
}

func (s *Site) trends(q *request) error {
	at := q.path("/trends")
	if text := q.r.URL.Query().Get("threshold"); text != "" && q.wantsPart() {
		replay, err := s.replay(q, text)
		if err != nil {
			return err
		}
		return part(q, replay)
	}
	t, err := s.trend(q)
	if err != nil {
		return err
	}
	slider, err := s.slider(q, at, &t)
	if err != nil {
		return err
	}
	untilFirst := ""
	if t.first > 0 {
		untilFirst = t.first.Round(time.Second).String() + " (median)"
	}
	measures := g.Map(t.Measures, func(m memory.Measure) g.Node {
		value := "no data yet"
		if m.Value != nil {
			value = percent(*m.Value)
		}
		return row(words(m.Name), g.Text(value), g.Text(percent(m.Target)),
			g.Textf("%s %s", thousands(m.Samples), m.Of))
	})
	var days []g.Node
	for _, d := range slices.Backward(t.days) {
		days = append(days, row(g.Text(d.day), g.Text(thousands(d.reviews)), g.Text(thousands(d.shown)),
			g.Text(thousands(d.accepted)), g.Text(thousands(d.declined)),
			g.Text(thousands(d.quiet)), g.Text(thousands(d.tokens)), g.Text(ofBudget(d.cost, s.o.DayBudget))))
	}
	pulls := g.Map(t.pulls, func(p pullCost) g.Node {
		return row(link(pullPath(q.repo, p.pull), fmt.Sprintf("#%d", p.pull)), g.Text(thousands(p.rounds)),
			g.Text(ofBudget(p.cost, s.o.PullBudget)))
	})
	tokens := t.Usage.Tokens()
	return s.render(q, "Trends", at, g.Group{
		sentence("The last %d days.", trendDays),
		facts("Reviews", counted(q.path(""), t.Reviews, "review"), "Cost", cost(t.CostUSD, tokens), "Tokens", thousands(tokens),
			"Duration of a review with a model", fmt.Sprintf("%.0f s (median)", float64(t.TookMS)/1000),
			"Time to first review", untilFirst, "Rounds per pull request", fmt.Sprintf("%.1f", t.Rounds)),
		section("Measures", table("", []string{"Measure", "Value", "Target", "Of"}, measures)),
		section("What people accepted", answeredTable("Finder", t.ByFinder), answeredTable("Category", t.ByCategory),
			answeredTable("Severity", t.BySeverity)),
		section("Calibration: stated confidence and what people accepted", calibrationPlot(t.ByConfidence),
			calibrationTable(t.ByConfidence)),
		section("Try another threshold", slider),
		section("By day", barChart("Findings shown by day", t.days,
			func(d dayFacts) float64 { return float64(d.shown) }),
			barChart("Cost by day, in dollars", t.days, func(d dayFacts) float64 { return d.cost }),
			table("No reviews in these days.", []string{
				"Day", "Reviews", "Shown", "Accepted", "Declined", "Ignored", "Tokens", "Cost",
			}, days)),
		section("Most expensive pull requests", table("No pull request was reviewed.",
			[]string{"Pull request", "Rounds", "Cost"}, pulls)),
	})
}

func ofBudget(cost, budget float64) string {
	if budget <= 0 {
		return dollars(cost)
	}
	return fmt.Sprintf("%s (%s of %s)", dollars(cost), percent(cost/budget), dollars(budget))
}

func answeredTable(what string, all []memory.Answered) g.Node {
	rows := g.Map(all, func(a memory.Answered) g.Node {
		return row(words(a.Name), g.Text(percent(float64(a.Accepted)/float64(max(1,
			a.Accepted+a.Rejected)))), g.Textf("%s of %s", thousands(a.Accepted), thousands(a.Accepted+a.Rejected)))
	})
	return table("Nobody answered yet.", []string{what, "Accepted", "Of"}, rows)
}

func calibrationTable(r calibration.Reliability) g.Node {
	var rows []g.Node
	for _, b := range r.Bins {
		if b.Points > 0 {
			rows = append(rows, row(g.Textf("%s to %s", percent(b.From), percent(b.To)), g.Text(percent(b.Predicted)),
				g.Text(percent(b.Observed)), g.Text(thousands(b.Points))))
		}
	}
	return table("Nobody answered yet.", []string{"Confidence", "Stated", "Accepted", "Findings"}, rows)
}

func (s *Site) slider(q *request, at string, t *trend) (g.Node, error) {
	value := q.r.URL.Query().Get("threshold")
	result := h.Div(h.ID("replay"),
		sentence("Choose a threshold to see what the past reviews would have shown. Nothing changes by that."))
	if value != "" {
		var err error
		if result, err = s.replay(q, value); err != nil {
			return nil, err
		}
	} else {
		value = strconv.Itoa(t.Optimal.Threshold)
	}
	return g.Group{
		h.Form(h.Class("search"), h.Method("get"), h.Action(at), g.Attr("hx-get", at),
			g.Attr("hx-trigger", "change, submit"), g.Attr("hx-target", "#replay"), g.Attr("hx-swap", "outerHTML"),
			field("threshold", "Threshold, in percent", h.Input(h.Type("range"), named("threshold"), h.Min("0"),
				h.Max("100"), h.Value(value))),
			g.El("output", h.For("threshold"), g.Text(value)), button("Replay")),
		h.Div(h.Aria("live", "polite"), result),
	}, nil
}

func (s *Site) replay(q *request, value string) (g.Node, error) {
	threshold, err := strconv.Atoi(value)
	if err != nil || threshold < 0 || threshold > 100 {
		return nil, requestError("A threshold is a number from 0 to 100.")
	}
	r, err := cached(&s.stats, fmt.Sprintf("replay %d %s", threshold, q.repo), func() (workspace.Replay, error) {
		return q.space.ReplayStored(q.ctx(), workspace.ReplayOptions{
			Since:     s.o.Now().AddDate(0, 0, -trendDays),
			Threshold: &threshold,
		})
	})
	if err != nil {
		return nil, err
	}
	fewer := r.Then.Shown - r.Now.Shown
	said := fmt.Sprintf("At %d: %s fewer, %d of them accepted.", threshold, plural(fewer, "finding"), r.HiddenAccepted)
	if fewer < 0 {
		said = fmt.Sprintf("At %d: %s more.", threshold, plural(-fewer, "finding"))
	}
	rows := g.Map(r.Changed, func(f workspace.Replayed) g.Node {
		became := "hidden"
		if f.After.Dropped == "" {
			became = "shown"
		}
		if f.Unknown != "" {
			became = "not known without a model"
		}
		return row(g.Text(became), link(q.path("/findings/")+f.Finding, f.Title), stateChip(f.Outcome))
	})
	return h.Div(h.ID("replay"), h.P(h.Strong(g.Text(said))),
		facts("Then", r.Then.String(), "Now", r.Now.String(), "Reviews", thousands(r.Reviews-r.Undecided)),
		g.If(r.Unknown > 0, sentence("%s would be verified now; whether they would be shown is not known.",
			plural(r.Unknown, "finding"))),
		table("Nothing would be shown differently.", []string{"Would be", "Finding", "Outcome"}, rows)), nil
}
