package match

import (
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// maxSiblings bounds the findings that are compared across files.
const maxSiblings = 200

// Set holds the findings of one review and how they compare with each other.
type Set struct {
	all   []*precedent.Finding
	texts map[*precedent.Finding]text.Vector // made on first use
	same  map[pair]bool
	edges []edge // the pairs in same
	grey  []edge
}

// Doubt is two remarks that may be the same.
type Doubt struct {
	A, B       *precedent.Finding
	Similarity float64
	// Judged tells whether a judge found them distinct.
	Judged bool
}

// NewSet compares findings, which must be sorted by path, side and first line.
func NewSet(fs []*precedent.Finding) *Set {
	s := &Set{all: fs, texts: map[*precedent.Finding]text.Vector{}, same: map[pair]bool{}}
	for i, a := range s.all {
		for j := i + 1; j < len(s.all) && near(a, s.all[j]); j++ {
			s.compare(pair{i, j})
		}
	}
	s.identical()
	return s
}

// compare decides about two findings, the first of which does not start after the
// second.
func (s *Set) compare(p pair) {
	a, b := s.all[p.a], s.all[p.b]
	similarity := 1.0 // if place and category decide
	switch inOrder(a, b, func() float64 { similarity = s.similarity(a, b); return similarity }) {
	case SurelySame:
		s.same[p] = true
		s.edges = append(s.edges, edge{p, similarity})
	case PerhapsSame:
		s.grey = append(s.grey, edge{p, similarity})
	}
}

func (s *Set) similarity(a, b *precedent.Finding) float64 {
	return text.Cosine(s.text(a), s.text(b))
}

func (s *Set) text(f *precedent.Finding) text.Vector {
	v, ok := s.texts[f]
	if !ok {
		v = words(f)
		s.texts[f] = v
	}
	return v
}

// identical joins findings with the same fingerprint, which may be on different sides
// of the diff.
func (s *Set) identical() {
	known := map[string][]int{}
	for j, f := range s.all {
		for _, i := range known[f.Fingerprint] {
			if p := (pair{i, j}); f.Fingerprint != "" && !s.same[p] {
				s.same[p] = true
				s.edges = append(s.edges, edge{p, 1})
			}
		}
		known[f.Fingerprint] = append(known[f.Fingerprint], j)
	}
}

// Group groups the findings so that all members of a group are the same; a chain of
// similar findings is not enough. The first of a group represents it: the one that
// before sorts first. The judge gets pairs of representatives that may be the same,
// the most similar first, and returns by index whether they are; pairs without an
// answer are missing. The pairs that it does not call the same are returned, too.
func (s *Set) Group(before func(a, b *precedent.Finding) bool, judge func([]Doubt) map[int]bool) (groups [][]*precedent.Finding, apart []Doubt) {
	slices.SortFunc(s.edges, bySimilarity)
	sure := cluster(len(s.all), s.edges, s.same)
	for _, members := range s.join(sure, before, judge, &apart) {
		group := []*precedent.Finding{s.representative(members, before)}
		for _, i := range members {
			if s.all[i] != group[0] {
				group = append(group, s.all[i])
			}
		}
		groups = append(groups, group)
	}
	return groups, apart
}

// join lets the judge compare groups, and joins groups that are all the same.
func (s *Set) join(groups [][]int, before func(a, b *precedent.Finding) bool, judge func([]Doubt) map[int]bool, apart *[]Doubt) [][]int {
	of := make([]int, len(s.all)) // the group of each finding
	for g, members := range groups {
		for _, i := range members {
			of[i] = g
		}
	}
	slices.SortFunc(s.grey, bySimilarity)
	var open []edge // between groups
	var doubts []Doubt
	seen := map[pair]bool{}
	for _, e := range s.grey {
		p := pair{min(of[e.a], of[e.b]), max(of[e.a], of[e.b])}
		if p.a != p.b && !seen[p] {
			seen[p] = true
			open = append(open, edge{p, e.similarity})
			doubts = append(doubts, Doubt{A: s.representative(groups[p.a], before), B: s.representative(groups[p.b], before), Similarity: e.similarity})
		}
	}
	said := judge(doubts)
	agreed := map[pair]bool{}
	var joins []edge
	for i, e := range open {
		same, judged := said[i]
		if same {
			agreed[e.pair] = true
			joins = append(joins, e)
			continue
		}
		doubts[i].Judged = judged
		*apart = append(*apart, doubts[i])
	}
	var all [][]int
	for _, members := range cluster(len(groups), joins, agreed) {
		var findings []int
		for _, g := range members {
			findings = append(findings, groups[g]...)
		}
		all = append(all, findings)
	}
	return all
}

// representative returns the finding that represents a group.
func (s *Set) representative(group []int, before func(a, b *precedent.Finding) bool) *precedent.Finding {
	first := s.all[group[0]]
	for _, i := range group[1:] {
		if before(s.all[i], first) {
			first = s.all[i]
		}
	}
	return first
}

// Siblings returns the pairs of similar live findings in different files. It compares
// the first 200 findings that are not from analyzers.
func (s *Set) Siblings() []Doubt {
	var live []*precedent.Finding
	for _, f := range s.all {
		if f.Live() && !f.Analyzer && len(live) < maxSiblings {
			live = append(live, f)
		}
	}
	var found []Doubt
	for n, a := range live {
		for _, b := range live[n+1:] {
			if a.Path == b.Path {
				continue
			}
			if similarity := s.similarity(a, b); similarity >= Sibling {
				found = append(found, Doubt{A: a, B: b, Similarity: similarity})
			}
		}
	}
	return found
}
