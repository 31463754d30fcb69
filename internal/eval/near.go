package eval

import (
	"strings"

	"github.com/precedent-dev/precedent"
)

// class groups categories for counting: data sets have fewer and different categories than findings.
type class string

const (
	defects         class = "defects"
	security        class = "security"
	performance     class = "performance"
	maintainability class = "maintainability"
	other           class = "other"
)

var classes = []class{defects, security, performance, maintainability, other}

// classOf returns the class of a finding's or data set's category. The phrases are AACR-Bench's.
func classOf(category string) class {
	switch strings.ToLower(strings.TrimSpace(category)) {
	case "code defect", string(precedent.Bugs), string(precedent.DataLoss), string(precedent.Crash), string(precedent.Race), string(precedent.Types):
		return defects
	case "security vulnerability", string(precedent.Security), string(precedent.Secrets):
		return security
	case string(precedent.Performance):
		return performance
	case "maintainability and readability", string(precedent.Architecture), string(precedent.Style),
		string(precedent.Tests), string(precedent.Guidelines), string(precedent.PolicyEdit):
		return maintainability
	}
	return other
}

// byLocation matches what is at most near lines apart on the same side of the same
// file. Among the largest matchings it chooses the nearest.
func (s *scored) byLocation(near int) matched {
	return s.match(func(list string, k, mark int) (cost int, ok bool) {
		f, m := s.cs.Findings[s.counts[k]].Span, s.list(list)[mark].span()
		if f.Path != m.Path || f.Side != m.Side || (f.Start == 0) != (m.Start == 0) || linesApart(f, m) > near {
			return 0, false
		}
		return endDistance(f, m), true
	})
}

// byJudge matches what the judge calls the same.
func (s *scored) byJudge(j *Judgement) matched {
	same := map[Same]bool{}
	for _, p := range j.Same {
		same[Same{Finding: p.Finding, List: p.List, Mark: p.Mark}] = true
	}
	return s.match(func(list string, k, mark int) (cost int, ok bool) {
		f, m := s.cs.Findings[s.counts[k]].Span, s.list(list)[mark].span()
		return endDistance(f, m), same[Same{Finding: s.counts[k], List: list, Mark: mark}]
	})
}

func (s *scored) list(name string) []Mark {
	if name == negativeList {
		return s.Negative
	}
	return s.Gold
}

// match pairs the scored findings with gold marks, and the remaining ones with negative marks.
func (s *scored) match(may func(list string, k, mark int) (cost int, ok bool)) matched {
	pair := func(list string, free func(k int) bool) []int {
		var edges []edge
		for k := range s.counts {
			for mark := range s.list(list) {
				if cost, ok := may(list, k, mark); ok && free(k) {
					edges = append(edges, edge{k, mark, cost})
				}
			}
		}
		return assign(len(s.counts), len(s.list(list)), edges)
	}
	m := matched{gold: pair(goldList, func(int) bool { return true })}
	m.negative = pair(negativeList, func(k int) bool { return m.gold[k] < 0 })
	return m
}

// linesApart is the number of lines between two spans of one file, plus one; 0 if they share a line.
func linesApart(a, b precedent.Span) int { return max(a.Start-b.End, b.Start-a.End, 0) }

// endDistance is the total distance between the ends of two spans, in lines: 0 only for equal spans.
func endDistance(a, b precedent.Span) int {
	return max(a.Start-b.Start, b.Start-a.Start) + max(a.End-b.End, b.End-a.End)
}
