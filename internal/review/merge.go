package review

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// When two findings of one file say the same, by the similarity of their texts
// (cosine of split tokens, 0 to 1). Measured on pairs that people judged: place
// alone is no key, because a third of all valid remarks have another one within
// three lines, and text alone confuses sibling sites.
const (
	samePlaceSimilarity = 0.25 // same line, other category: the same from here
	overlapSimilarity   = 0.55 // overlapping lines: the same from here
	greySimilarity      = 0.25 // overlapping lines: perhaps the same from here
	nearSimilarity      = 0.55 // near lines: perhaps the same from here
	nearLines           = 40
	siblingSimilarity   = 0.60 // different files: linked from here, never merged
)

// What one finding gains by others that agree with it, in percent points:
// agreement of independent finders is the best signal of truth there is.
const (
	agreeDelta = 10
	agreeMost  = 20
)

// Bounds of the links between similar findings in different files.
const (
	siblingFindings = 200 // findings that are compared, in the order of their places
	mostLinks       = 5   // links of one finding, to possible duplicates too
)

// merge drops what another finding says too, and counts for the one that stays
// how many finders agree. Findings are the same if every two of a group are:
// no chain of resemblances joins what differs. Of pairs that may be the same
// judge says whether they are. The order of the findings does not matter.
func merge(fs []precedent.Finding, judge func([]doubt) []opinion) {
	m := newMatcher(fs)
	m.match()
	groups := m.groups()
	groups = m.settle(groups, judge)
	for _, group := range groups {
		if len(group) > 1 {
			m.keepOne(group)
		}
	}
	m.linkSiblings()
}

// doubt is a pair of findings that may be the same.
type doubt struct{ a, b *precedent.Finding }

// opinion is what a judge says of a doubt.
type opinion string

// The opinions; the empty one is that of nobody.
const (
	unasked  opinion = ""
	same     opinion = "same"
	distinct opinion = "distinct"
)

// settle asks the judge about the grey pairs, the most similar first, by the
// findings that speak for their groups, and joins groups of which every two are
// the same. It returns all groups, those of one finding included.
func (m *matcher) settle(groups [][]int, judge func([]doubt) []opinion) [][]int {
	of := make([]int, len(m.all)) // the group of each finding
	for g, members := range groups {
		for _, i := range members {
			of[i] = g
		}
	}
	slices.SortFunc(m.grey, bySimilarity)
	var open []edge // between groups
	seen := map[pair]bool{}
	for _, e := range m.grey {
		p := pair{min(of[e.a], of[e.b]), max(of[e.a], of[e.b])}
		if p.a != p.b && !seen[p] {
			seen[p] = true
			open = append(open, edge{p, e.similarity})
		}
	}
	var doubts []doubt
	for _, e := range open {
		doubts = append(doubts, doubt{m.best(groups[e.a]), m.best(groups[e.b])})
	}
	agreed := map[pair]bool{}
	var joins []edge
	for i, said := range judge(doubts) {
		e, d := open[i], doubts[i]
		switch said {
		case same:
			agreed[e.pair] = true
			joins = append(joins, e)
		case distinct:
			m.link(d, "near what is said at %s (similarity %.2f), and not the same: a judge compared them", e.similarity)
		default:
			m.link(d, "perhaps the same as what is said at %s (similarity %.2f): kept apart, because no judge compared them", e.similarity)
		}
	}
	joined := cluster(len(groups), joins, agreed)
	var all [][]int
	for _, members := range joined {
		var findings []int
		for _, g := range members {
			findings = append(findings, groups[g]...)
		}
		all = append(all, findings)
	}
	return all
}

// matcher compares the live findings.
type matcher struct {
	all   []*precedent.Finding // by place, then by everything else
	texts map[int]text.Vector  // made on first use
	same  map[pair]bool
	edges []edge // the pairs in same
	grey  []edge
	links map[*precedent.Finding]int
}

func newMatcher(fs []precedent.Finding) *matcher {
	m := &matcher{same: map[pair]bool{}, texts: map[int]text.Vector{}, links: map[*precedent.Finding]int{}}
	for i := range fs {
		if fs[i].Live() {
			m.all = append(m.all, &fs[i])
		}
	}
	slices.SortStableFunc(m.all, byContent)
	return m
}

// similarity is that of what two findings say, 0 to 1.
func (m *matcher) similarity(a, b int) float64 {
	return text.Cosine(m.text(a), m.text(b))
}

func (m *matcher) text(i int) text.Vector {
	v, ok := m.texts[i]
	if !ok {
		v = words(m.all[i])
		m.texts[i] = v
	}
	return v
}

// byContent orders findings by place, and those of one place by all else that
// a finder says, so that only equal findings are in no order.
func byContent(a, b *precedent.Finding) int {
	return cmp.Or(
		cmp.Compare(a.Path, b.Path),
		-cmp.Compare(a.Side, b.Side), // RIGHT first
		cmp.Compare(a.Start, b.Start),
		cmp.Compare(a.End, b.End),
		cmp.Compare(a.Severity.Rank(), b.Severity.Rank()),
		-cmp.Compare(a.Confidence, b.Confidence),
		cmp.Compare(a.Category, b.Category),
		cmp.Compare(a.Finder, b.Finder),
		cmp.Compare(a.Title, b.Title),
		cmp.Compare(a.Body, b.Body),
		cmp.Compare(a.Quote, b.Quote),
		cmp.Compare(a.Suggestion, b.Suggestion),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Symbol, b.Symbol),
		slices.CompareFunc(a.Evidence, b.Evidence, func(x, y precedent.Evidence) int {
			return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Quote, y.Quote))
		}),
	)
}

// match compares all findings that are near each other.
func (m *matcher) match() {
	for i, a := range m.all {
		for j := i + 1; j < len(m.all); j++ {
			b := m.all[j]
			if !near(a, b) {
				break
			}
			m.compare(pair{i, j})
		}
	}
	m.identical()
}

// identical joins findings of one fingerprint: those on one line of one category,
// which may be flagged on either side of the diff. What has one name is said once.
func (m *matcher) identical() {
	known := map[string][]int{}
	for j, f := range m.all {
		for _, i := range known[f.Fingerprint] {
			if p := (pair{i, j}); f.Fingerprint != "" && !m.same[p] {
				m.same[p] = true
				m.edges = append(m.edges, edge{p, 1})
			}
		}
		known[f.Fingerprint] = append(known[f.Fingerprint], j)
	}
}

// compare decides on two findings, the first of which does not start behind the
// second.
func (m *matcher) compare(p pair) {
	a, b := m.all[p.a], m.all[p.b]
	similarity := 1.0 // of those that are the same by place and category
	switch alike(a, b, func() float64 { similarity = m.similarity(p.a, p.b); return similarity }) {
	case SurelySame:
		m.same[p] = true
		m.edges = append(m.edges, edge{p, similarity})
	case PerhapsSame:
		m.grey = append(m.grey, edge{p, similarity})
	}
}

// groups returns the findings in groups of which every two are surely the same.
func (m *matcher) groups() [][]int {
	slices.SortFunc(m.edges, bySimilarity)
	return cluster(len(m.all), m.edges, m.same)
}

// linkSiblings says where else something similar was found.
func (m *matcher) linkSiblings() {
	var live []int
	for i, f := range m.all {
		if f.Live() && !f.Analyzer && len(live) < siblingFindings {
			live = append(live, i)
		}
	}
	for n, i := range live {
		for _, j := range live[n+1:] {
			if m.all[i].Path == m.all[j].Path {
				continue
			}
			if similarity := m.similarity(i, j); similarity >= siblingSimilarity {
				m.link(doubt{m.all[i], m.all[j]}, "also at %s (similarity %.2f)", similarity)
			}
		}
	}
}

// link notes each of two findings on the other. The format takes a place and
// the similarity.
func (m *matcher) link(d doubt, format string, similarity float64) {
	note := func(f, other *precedent.Finding) {
		if m.links[f]++; m.links[f] <= mostLinks {
			f.Trail = append(f.Trail, precedent.Decision{Step: "merge", Says: fmt.Sprintf(format, other.Span, similarity), By: other.ID})
		}
	}
	note(d.a, d.b)
	note(d.b, d.a)
}
