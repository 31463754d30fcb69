package match

import (
	"slices"

	"github.com/precedent-dev/precedent"
)

// maxRounds bounds how often a judge is asked about one set: about the pairs that may
// be the same, then about those that its answers make decisive.
const maxRounds = 3

// Group groups the findings. The first of a group represents it: the one that before
// sorts first. Members are the same as each other by place and words, or the same as
// the representative by a judge; a chain of similar findings is not enough. The judge
// gets pairs of representatives, the most similar first, and returns by index whether
// they are the same; pairs without an answer are missing. If its answers join a finding
// to a member of a group, but it was not asked about the representative, it is asked
// again. The pairs that are kept apart are returned, too.
func (s *Set) Group(before func(a, b *precedent.Finding) bool, judge func([]Doubt) map[int]bool) (groups []Group, apart []Doubt) {
	slices.SortFunc(s.sure, bySimilarity)
	g := grouping{set: s, judge: judge, said: map[pair]bool{}, asked: map[pair]*Doubt{}}
	for _, members := range cluster(len(s.all), s.sure, s.same) {
		first := 0
		for n, i := range members {
			if before(s.all[i], s.all[members[first]]) {
				first = n
			}
		}
		members[0], members[first] = members[first], members[0]
		g.parts = append(g.parts, members)
	}
	slices.SortStableFunc(g.parts, func(x, y []int) int {
		a, b := s.all[x[0]], s.all[y[0]]
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return x[0] - y[0]
	})
	g.compared = make([][]int, len(g.parts))
	g.ask(g.doubtful())
	for range maxRounds - 1 {
		if !g.ask(g.assign()) {
			break
		}
	}
	g.assign()
	return g.groups(), g.apart()
}

// grouping joins parts: sets of findings of which every two are surely the same.
type grouping struct {
	set   *Set
	judge func([]Doubt) map[int]bool
	parts [][]int // indexes of findings, the representative first; the most specific part first
	of    []int   // by part, the part that represents it
	said  map[pair]bool
	asked map[pair]*Doubt
	order []pair // of asked
	// compared holds, by part, the parts before it that a judge was asked about.
	compared [][]int
}

// doubtful returns the pairs of parts with findings that may be the same, the most
// similar first.
func (g *grouping) doubtful() []edge {
	part := make([]int, len(g.set.all)) // of each finding
	for n, members := range g.parts {
		for _, i := range members {
			part[i] = n
		}
	}
	edges := slices.Concat(g.set.open, g.set.sure)
	slices.SortFunc(edges, bySimilarity)
	var doubtful []edge
	seen := map[pair]bool{}
	for _, e := range edges {
		p := pair{min(part[e.a], part[e.b]), max(part[e.a], part[e.b])}
		if p.a != p.b && !seen[p] {
			seen[p] = true
			doubtful = append(doubtful, edge{p, e.similarity})
		}
	}
	return doubtful
}

// ask asks the judge about pairs of parts, and tells whether there were any.
func (g *grouping) ask(edges []edge) bool {
	var doubts []Doubt
	for _, e := range edges {
		doubts = append(doubts, Doubt{A: g.set.all[g.parts[e.a][0]], B: g.set.all[g.parts[e.b][0]], Similarity: e.similarity})
	}
	said := g.judge(doubts)
	for i, e := range edges {
		same, judged := said[i]
		if judged {
			g.said[e.pair] = same
			doubts[i].Judged = !same
		}
		g.asked[e.pair] = &doubts[i]
		g.order = append(g.order, e.pair)
		g.compared[e.b] = append(g.compared[e.b], e.a)
	}
	return len(edges) > 0
}

// same tells whether two parts are joined: a judge said so or, if it did not answer,
// every two of their findings are alike.
func (g *grouping) same(p pair) bool {
	if same, judged := g.said[p]; judged {
		return same
	}
	return g.asked[p] != nil && allSame(g.parts[p.a], g.parts[p.b], g.set.alike)
}

// assign joins each part to the first part that represents a group and is the same. It
// returns the pairs that decide and that the judge was not asked about: parts that
// represent groups, one of which is the same as a member of the other.
func (g *grouping) assign() (decisive []edge) {
	g.of = make([]int, len(g.parts))
	seen := map[pair]bool{}
	decide := func(a, b int) {
		p := pair{min(a, b), max(a, b)}
		if a == b || g.asked[p] != nil || seen[p] {
			return
		}
		seen[p] = true
		decisive = append(decisive, edge{p, g.set.similarity(g.set.all[g.parts[p.a][0]], g.set.all[g.parts[p.b][0]])})
	}
	for n := range g.parts {
		g.of[n] = n
		slices.Sort(g.compared[n])
		for _, other := range g.compared[n] {
			first := g.of[other]
			switch {
			case !g.same(pair{other, n}):
			case first == other && g.of[n] == n:
				g.of[n] = first
			default:
				decide(first, g.of[n])
			}
		}
	}
	slices.SortFunc(decisive, bySimilarity)
	return decisive
}

// groups returns the groups in the order of the findings.
func (g *grouping) groups() []Group {
	findings := func(part int) []*precedent.Finding {
		var fs []*precedent.Finding
		for _, i := range g.parts[part] {
			fs = append(fs, g.set.all[i])
		}
		return fs
	}
	at := make([]int, len(g.parts))
	var groups []Group
	for n, first := range g.of {
		fs := findings(n)
		if n == first {
			at[n] = len(groups)
			groups = append(groups, Group{First: fs[0], Same: fs[1:]})
			continue
		}
		to := &groups[at[first]]
		if _, judged := g.said[pair{first, n}]; judged {
			to.Same = append(to.Same, fs...)
		} else {
			to.Likely = append(to.Likely, fs...)
		}
	}
	return groups
}

// apart returns the pairs that a judge was asked about and that are in different
// groups.
func (g *grouping) apart() []Doubt {
	var apart []Doubt
	for _, p := range g.order {
		if g.of[p.a] != g.of[p.b] {
			apart = append(apart, *g.asked[p])
		}
	}
	return apart
}
