package memory

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/store"
)

// Limits of what is looked at for patterns.
const (
	// maxConsidered limits the findings that are compared with each other, the last shown
	// first: the time is quadratic.
	maxConsidered = 500
	maxEvidence   = 100 // findings of one insight, the last shown first
	maxCitations  = 5
	minChanges    = 2 // changes, and findings, from which there is a pattern
)

// What makes an insight active, and what pauses it. Where one person alone has answered findings, that person is
// enough, and changes count as pull requests do.
const (
	activePulls     = 3
	activePeople    = 2
	activeRate      = 0.7 // of answers that accept
	activeCertainty = 0.8 // that the rate is at least that
	lastAnswers     = 5
	pausingAnswers  = 2 // of the last ones that reject
)

// Pattern is an insight with the findings that it was found in.
type Pattern struct {
	precedent.Insight
	Members []store.Appearance // the last shown first, at most maxEvidence
	// News tells that it has findings that were not in it before.
	News bool
}

// Patterns groups findings into insights, the one with the most findings first. An insight that
// is stored keeps its id, its text and its findings; new findings join it, and its evidence and
// state are computed again. Shown are the last shown findings and those of the stored insights,
// the last shown first. The evidence is counted here; a model only names a pattern.
func Patterns(shown []store.Appearance, dismissals []precedent.Dismissal, stored []precedent.Insight,
	now time.Time,
) []Pattern {
	g := grouper{
		shown: shown, at: map[string]int{}, dismissals: map[string]precedent.Dismissal{}, owner: map[string]int{},
		ids: map[string]bool{}, now: now,
	}
	for i, a := range shown {
		g.at[a.Fingerprint] = i
	}
	var people []string
	for _, a := range shown {
		for _, o := range a.Outcomes {
			people = append(people, o.Who)
		}
	}
	for _, j := range dismissals {
		people = append(people, j.Who)
		if j.Rule == "" {
			g.dismissals[j.Fingerprint] = j
		}
	}
	g.alone = atMostOne(people)
	for _, i := range stored {
		g.ids[i.ID] = true
		for _, fingerprint := range i.Findings {
			g.owner[fingerprint] = len(g.patterns)
		}
		g.patterns = append(g.patterns, Pattern{Insight: i})
	}
	var titles []string
	for _, a := range shown[:min(len(shown), maxConsidered)] {
		titles = append(titles, a.Title)
	}
	joining := make([][]int, len(stored)) // by insight
	for _, members := range match.Clusters(titles, match.SamePattern) {
		if to := g.ownerOf(members); to >= 0 {
			joining[to] = append(joining[to], members...)
		} else {
			g.add(members)
		}
	}
	for i := range stored {
		g.fill(&g.patterns[i], joining[i])
	}
	slices.SortFunc(g.patterns, func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(len(b.Findings), len(a.Findings)), cmp.Compare(a.ID, b.ID))
	})
	return g.patterns
}

type grouper struct {
	shown      []store.Appearance
	at         map[string]int // by fingerprint
	dismissals map[string]precedent.Dismissal
	patterns   []Pattern
	owner      map[string]int // by fingerprint, the stored insight that has it
	ids        map[string]bool
	alone      bool // one person at most has answered
	now        time.Time
}

// atMostOne reports whether names are all those of one person; empty names are left out.
func atMostOne(names []string) bool {
	return len(slices.DeleteFunc(unique(names), func(s string) bool { return s == "" })) <= 1
}

// ownerOf returns the stored insight that has the most findings of a group, -1 for none.
func (g *grouper) ownerOf(members []int) int {
	votes := map[int]int{}
	for _, i := range members {
		if owner, ok := g.owner[g.shown[i].Fingerprint]; ok {
			votes[owner]++
		}
	}
	best := -1
	for _, owner := range slices.Sorted(maps.Keys(votes)) {
		if best < 0 || votes[owner] > votes[best] {
			best = owner
		}
	}
	return best
}

// add makes an insight of a group, if it has findings of several changes.
func (g *grouper) add(members []int) {
	changes := map[string]bool{}
	for _, i := range members {
		for _, c := range g.shown[i].Changes {
			changes[c] = true
		}
	}
	if len(members) < minChanges || len(changes) < minChanges {
		return
	}
	p := Pattern{Insight: precedent.Insight{CreatedAt: g.now}}
	for _, i := range slices.Backward(members) { // from the first shown
		if id := precedent.InsightID(g.shown[i].Fingerprint); !g.ids[id] {
			p.ID = id
			break
		}
	}
	if p.ID == "" {
		return
	}
	g.ids[p.ID] = true
	g.fill(&p, members)
	g.patterns = append(g.patterns, p)
}

// fill computes the evidence of an insight from the findings that it has and those that join.
func (g *grouper) fill(p *Pattern, joining []int) {
	before := p.Insight
	members := slices.Clone(joining)
	for _, fingerprint := range p.Findings {
		if i, ok := g.at[fingerprint]; ok {
			members = append(members, i)
		}
	}
	slices.Sort(members)
	members = slices.Compact(members)
	if len(members) == 0 {
		return // nothing of it is stored any more
	}
	p.Members = nil
	for _, i := range members[:min(len(members), maxEvidence)] {
		p.Members = append(p.Members, g.shown[i])
	}
	p.Findings = nil
	for _, m := range p.Members {
		p.News = p.News || !slices.Contains(before.Findings, m.Fingerprint)
		p.Findings = append(p.Findings, m.Fingerprint)
	}
	slices.Sort(p.Findings)
	answers := g.count(p)
	p.State = stateOf(p.Insight, answers, g.alone)
	p.Category = mainCategory(p.Members)
	if !p.Engine {
		p.describe(answers)
	}
	if !sameInsight(before, p.Insight) {
		p.UpdatedAt = g.now
	}
}

// answer is what a person decided about a finding.
type answer struct {
	at       time.Time
	accepted bool
	finding  string // fingerprint
}

// count fills in where findings were shown and what people decided about them, and returns the
// answers, oldest first. A dismissal by a person without write permission does not count.
// Pull requests and people that were counted stay, also if their reviews were pruned.
func (g *grouper) count(p *Pattern) []answer {
	changes := map[string]bool{}
	var answers []answer
	decide := func(at time.Time, accepted bool, fingerprint, who string) {
		answers = append(answers, answer{at, accepted, fingerprint})
		if who != "" {
			p.People = append(p.People, who)
		}
	}
	for _, m := range p.Members {
		p.PullRequests = append(p.PullRequests, m.Pulls...)
		for _, c := range m.Changes {
			changes[c] = true
		}
		declined := false
		for _, o := range m.Outcomes {
			switch {
			case slices.Contains([]precedent.OutcomeKind{precedent.Fixed, precedent.SuggestionTaken, precedent.Accepted},
				o.Kind):
				decide(o.At, true, m.Fingerprint, o.Who)
			case o.Kind == precedent.Declined && o.MayWrite:
				declined = true
				decide(o.At, false, m.Fingerprint, o.Who)
			}
		}
		if j, rejected := g.dismissals[m.Fingerprint]; rejected && !declined {
			decide(j.At, false, m.Fingerprint, j.Who)
		}
	}
	slices.SortStableFunc(answers, func(a, b answer) int { return a.at.Compare(b.at) })
	p.PullRequests, p.People = unique(p.PullRequests), unique(p.People)
	p.Changes = max(len(changes), len(p.PullRequests))
	p.Accepted, p.Rejected = 0, 0
	for _, a := range answers {
		if a.accepted {
			p.Accepted++
		} else {
			p.Rejected++
		}
	}
	return answers
}

func unique[T cmp.Ordered](values []T) []T {
	values = append([]T{}, values...)
	slices.Sort(values)
	return slices.Compact(values)
}

// stateOf decides about an insight from its evidence and the answers of people, oldest first. alone tells that one
// person at most has answered findings of the repository.
func stateOf(i precedent.Insight, answers []answer, alone bool) precedent.InsightState {
	rejected, seen, people := 0, len(i.PullRequests), activePeople
	if alone {
		seen, people = i.Changes, 0
	}
	for _, a := range answers[max(0, len(answers)-lastAnswers):] {
		if !a.accepted {
			rejected++
		}
	}
	switch {
	case i.Dismissed != nil || rejected >= pausingAnswers:
		return precedent.InsightPaused
	case seen >= activePulls && len(i.People) >= people && AcceptanceOf(i.Accepted, i.Rejected).Likely >= activeCertainty:
		return precedent.InsightActive
	}
	return precedent.InsightCandidate
}

// mainCategory is the most frequent category, of several the first by name.
func mainCategory(members []store.Appearance) precedent.Category {
	counts := map[precedent.Category]int{}
	for _, m := range members {
		counts[m.Category]++
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(counts)), func(a, b precedent.Category) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), strings.Compare(string(b), string(a)))
	})
}

// sameInsight reports whether nothing changed but the time.
func sameInsight(a, b precedent.Insight) bool {
	return a.State == b.State && a.Text == b.Text && a.Scope == b.Scope && a.Category == b.Category &&
		slices.Equal(a.Findings, b.Findings) && slices.Equal(a.Citations, b.Citations) && slices.Equal(a.PullRequests,
		b.PullRequests) &&
		slices.Equal(a.People,
			b.People) && a.Changes == b.Changes && a.Accepted == b.Accepted && a.Rejected == b.Rejected && a.Engine == b.Engine
}
