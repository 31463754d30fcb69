package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/store"
)

// Bounds of what statistics read.
const (
	maxStatisticLabels     = 100_000
	maxStatisticThresholds = 100
)

// sample reads what the statistics are computed from.
func (m *Memory) sample(ctx context.Context, since time.Time) (sample, error) {
	s, rows := sample{since: since}, m.Rows
	first, last, err := rows.Period(ctx)
	if err != nil {
		return s, err
	}
	if s.reviews, err = rows.ReviewFacts(ctx, since, last.Add(time.Second)); err != nil {
		return s, err
	}
	if end := first.Add(firstMonth); !last.Before(end) { // the first month is over
		if s.baseline, err = rows.ReviewFacts(ctx, first, end); err != nil {
			return s, err
		}
	}
	if s.outcomes, err = rows.OutcomesSince(ctx, since); err != nil {
		return s, err
	}
	if s.labels, err = rows.Labels(ctx, maxStatisticLabels); err != nil {
		return s, err
	}
	s.labels = slices.DeleteFunc(s.labels, func(l calibration.Label) bool { return l.At.Before(since) })
	if s.thresholds, err = rows.Thresholds(ctx, maxStatisticThresholds); err != nil {
		return s, err
	}
	if s.threads, err = rows.ThreadStates(ctx, since); err != nil {
		return s, err
	}
	if s.learnings, err = rows.Learnings(ctx); err != nil {
		return s, err
	}
	for i := range s.learnings {
		m.expire(&s.learnings[i])
	}
	s.dismissals, err = rows.Dismissals(ctx, m.Now(), maxDismissals)
	return s, err
}

// pullCounts are new findings and reviewed heads by pull request.
func pullCounts(reviews []store.ReviewFacts) (findings map[int]int, heads map[int]map[string]bool) {
	findings, heads = map[int]int{}, map[int]map[string]bool{}
	for _, r := range reviews {
		if r.Pull == 0 {
			continue
		}
		for _, n := range r.New {
			findings[r.Pull] += n
		}
		if heads[r.Pull] == nil {
			heads[r.Pull] = map[string]bool{}
		}
		heads[r.Pull][r.Head] = true
	}
	return findings, heads
}

// statistics computes all but the hotspots.
func (s *sample) statistics() Statistics {
	out := Statistics{
		Since: s.since, Reviews: len(s.reviews), Verdicts: map[precedent.Verdict]int{}, Shown: map[precedent.Placement]int{},
		Hidden:  map[precedent.Dropped]int{},
		Threads: s.threads, Outcomes: map[precedent.OutcomeKind]int{},
		Thresholds: append([]store.Threshold{}, s.thresholds...), People: s.people(),
	}
	var took []int64
	for _, r := range s.reviews {
		out.Verdicts[r.Verdict]++
		for where, n := range r.New {
			out.Shown[where] += n
		}
		for why, n := range r.Hidden {
			out.Hidden[why] += n
		}
		out.Audited += r.Audited
		out.Usage.Add(r.Usage)
		out.CostUSD += r.CostUSD
		if r.Model {
			out.WithModel++
			took = append(took, r.TookMS)
		}
		if r.Guide {
			out.Guided++
		}
	}
	if len(took) > 0 {
		slices.Sort(took)
		out.TookMS = took[len(took)/2]
	}
	_, heads := pullCounts(s.reviews)
	out.Pulls = len(heads)
	for _, h := range heads {
		out.Rounds += float64(len(h)) / float64(len(heads))
	}
	for _, o := range s.outcomes {
		out.Outcomes[o.Kind]++
	}
	labels := s.labels
	out.BySeverity = acceptance(labels, func(l calibration.Label) string { return string(l.Severity) })
	slices.SortFunc(out.BySeverity, func(a, b Answered) int {
		return cmp.Compare(precedent.Severity(a.Name).Rank(), precedent.Severity(b.Name).Rank())
	})
	out.ByCategory = acceptance(labels, func(l calibration.Label) string { return string(l.Category) })
	out.ByFinder = acceptance(labels, func(l calibration.Label) string { return l.Finder })
	out.ByConfidence = calibration.NewReliability(calibration.Points(labels))
	out.Optimal = calibration.ComputeOptimalThreshold(labels)
	out.Learnings = s.counted()
	out.Measures = s.measures(&out, labels)
	return out
}

// acceptance counts labels by a name, the most first. Labels without a name are left out.
func acceptance(labels []calibration.Label, name func(calibration.Label) string) []Answered {
	counts := map[string]*Answered{}
	for _, l := range labels {
		n := name(l)
		if n == "" {
			continue
		}
		if counts[n] == nil {
			counts[n] = &Answered{Name: n}
		}
		if l.Accepted {
			counts[n].Accepted++
		} else {
			counts[n].Rejected++
		}
	}
	all := []Answered{}
	for _, n := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, *counts[n])
	}
	slices.SortStableFunc(all, func(a, b Answered) int {
		return cmp.Compare(b.Accepted+b.Rejected,
			a.Accepted+a.Rejected)
	})
	return all
}

func (s *sample) counted() Counted {
	var c Counted
	for _, l := range s.learnings {
		switch l.State {
		case precedent.LearningActive:
			c.Active++
			if l.Used == 0 {
				c.Never++
			}
		case precedent.LearningPending:
			c.Pending++
		}
		c.Loaded += l.Loaded
		c.Used += l.Used
	}
	return c
}

func (s *sample) measures(out *Statistics, labels []calibration.Label) []Measure {
	share := func(name string, target float64, n, of int, noun, that string) Measure {
		m := Measure{Name: name, Target: target, Samples: of, Of: nounFor(of, noun) + that}
		if of > 0 {
			value := float64(n) / float64(of)
			m.Value = &value
		}
		return m
	}
	shown, inline := 0, out.Shown[precedent.Inline]
	for _, n := range out.Shown {
		shown += n
	}
	accepted := 0
	for _, l := range labels {
		if l.Accepted {
			accepted++
		}
	}
	resolved, threads := s.threads[precedent.ThreadResolved]+s.threads[precedent.ThreadAddressed], 0
	for _, n := range s.threads {
		threads += n
	}
	guided, guides := 0, 0
	for _, r := range s.reviews {
		if r.Model && (r.Guide || r.GuideLost) {
			guides++
			if !r.GuideLost {
				guided++
			}
		}
	}
	return []Measure{
		share("findings shown on their lines", targetInline, inline, shown, "finding", " shown"),
		share("posted findings accepted", targetAccepted, accepted, len(labels), "finding", " that people answered"),
		s.thoroughness(),
		share("threads resolved", targetResolved, resolved, threads, "thread", ""),
		share("guide loaded where there is one", targetGuide, guided, guides, "review", " by a model with a guide"),
	}
}

func nounFor(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// thoroughness compares the findings per pull request with those of the first month.
func (s *sample) thoroughness() Measure {
	m := Measure{Name: "findings per pull request, times the first month's", Target: targetFindings}
	mean := func(reviews []store.ReviewFacts) (float64, int) {
		findings, heads := pullCounts(reviews)
		sum := 0
		for _, n := range findings {
			sum += n
		}
		return float64(sum) / float64(max(len(heads), 1)), len(heads)
	}
	in := map[string]bool{}
	for _, r := range s.baseline {
		in[r.ID] = true
	}
	before, pulls := mean(s.baseline)
	since, now := mean(slices.DeleteFunc(slices.Clone(s.reviews), func(r store.ReviewFacts) bool { return in[r.ID] }))
	m.Of = nounFor(now, "pull request") + " since"
	if m.Samples = now; pulls > 0 && now > 0 && before > 0 {
		times := since / before
		m.Value = &times
	}
	return m
}

// people counts what each person said, those who said the most first.
func (s *sample) people() []Person {
	by := map[string]*Person{}
	of := func(login string) *Person {
		if by[login] == nil {
			by[login] = &Person{Login: login}
		}
		return by[login]
	}
	for _, o := range s.outcomes {
		if accepted, ok := o.Label(); o.Who == "" || !ok && o.Kind != precedent.Declined {
			continue
		} else if accepted {
			of(o.Who).Accepted++
		} else {
			of(o.Who).Declined++
		}
	}
	for _, j := range s.dismissals {
		if j.Who != "" && !j.At.Before(s.since) {
			of(j.Who).Dismissed++
		}
	}
	for _, l := range s.learnings {
		if l.State == precedent.LearningActive && l.From.Who != "" {
			of(l.From.Who).Preferences++
		}
	}
	people := []Person{}
	for _, login := range slices.Sorted(maps.Keys(by)) {
		people = append(people, *by[login])
	}
	said := func(p Person) int { return p.Accepted + p.Declined + p.Dismissed + p.Preferences }
	slices.SortStableFunc(people, func(a, b Person) int { return cmp.Compare(said(b), said(a)) })
	return people
}
