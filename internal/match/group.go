package match

import (
	"maps"
	"slices"

	"github.com/precedent-dev/precedent"
)

// Group groups the findings. The first of a group represents it: the one that before sorts first. Members are the
// same as each other by place and words, or the same as the representative by a judge; a chain of similar findings
// is not enough. The judge is asked once, about pairs of representatives, the most similar first, and returns by
// index whether they are the same; pairs without an answer are missing. The pairs that are kept apart are returned,
// too.
func (s *Set) Group(before func(a, b *precedent.Finding) bool, judge func([]Doubt) map[int]bool) (groups []Group,
	apart []Doubt,
) {
	slices.SortFunc(s.sure, bySimilarity)
	g := grouping{set: s}
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
	g.pairs = g.doubtful()
	var doubts []Doubt
	for _, e := range g.pairs {
		doubts = append(doubts, Doubt{A: s.all[g.parts[e.a][0]], B: s.all[g.parts[e.b][0]], Similarity: e.similarity})
	}
	g.said = judge(doubts)
	groups = g.groups()
	for i, e := range g.pairs {
		if g.of[e.a] != g.of[e.b] {
			same, judged := g.said[i]
			doubts[i].Judged = judged && !same
			apart = append(apart, doubts[i])
		}
	}
	return groups, apart
}

// grouping joins parts: sets of findings of which every two are surely the same.
type grouping struct {
	set   *Set
	parts [][]int      // indexes of findings, the representative first; the most specific part first
	pairs []edge       // of parts that may be the same
	said  map[int]bool // what a judge said about pairs, by index
	of    []int        // by part, the part that represents it
}

// doubtful returns the pairs of parts with findings that may be the same, the most similar first.
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

// groups joins each part to the first part that represents a group and is the same: a judge said so or, if it did
// not answer, every two of their findings are alike. It returns the groups in the order of the findings.
func (g *grouping) groups() []Group {
	joins := make([]map[int]bool, len(g.parts)) // by part, those before it that are the same, with whether a judge said so
	for i, e := range g.pairs {
		same, judged := g.said[i]
		if same || !judged && allSame(g.parts[e.a], g.parts[e.b], g.set.alike) {
			if joins[e.b] == nil {
				joins[e.b] = map[int]bool{}
			}
			joins[e.b][e.a] = judged
		}
	}
	g.of = make([]int, len(g.parts))
	at := make([]int, len(g.parts))
	var groups []Group
	for n, members := range g.parts {
		var fs []*precedent.Finding
		for _, i := range members {
			fs = append(fs, g.set.all[i])
		}
		g.of[n] = n
		for _, first := range slices.Sorted(maps.Keys(joins[n])) {
			if g.of[first] == first {
				g.of[n] = first
				break
			}
		}
		if g.of[n] == n {
			at[n] = len(groups)
			groups = append(groups, Group{First: fs[0], Same: fs[1:]})
			continue
		}
		to := &groups[at[g.of[n]]]
		if joins[n][g.of[n]] {
			to.Same = append(to.Same, fs...)
		} else {
			to.Likely = append(to.Likely, fs...)
		}
	}
	return groups
}
