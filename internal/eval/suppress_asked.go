package eval

import (
	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/memory"
)

// AskedMemory is what the stage would ask a judge about the findings of the cases, if their dismissals were
// among others. No judge can find what it is not asked about.
type AskedMemory struct {
	Others   int `json:"others"`   // drawn, besides those of the case
	Findings int `json:"findings"` // in each draw
	// Recall is the share of the covered findings about which a dismissal of their case is asked.
	Recall    Ratio `json:"recall"`
	Questions Ratio `json:"questions"` // about one finding, the mean
}

// askedSizes are the numbers of drawn dismissals beside those of a case.
var askedSizes = []int{0, 10, 50, 500}

// asked counts the questions, with dismissals drawn draws times for each case.
func (m *Memories) asked(draws int, seed uint64) []AskedMemory {
	var rows []AskedMemory
	for _, n := range askedSizes {
		row := AskedMemory{Others: n}
		var all grouped[tally]
		for i := range m.cases {
			c := &m.cases[i]
			p := pool{change: c.change, from: c.from}
			if p.others() < n {
				continue
			}
			row.Findings += len(c.findings)
			for k := range draws {
				all.of(c.change).add(c.ask(p.pick(n, seed, i*draws+k)))
			}
		}
		if row.Findings > 0 {
			row.Questions, row.Recall, _ = intervals(all.list, seed)
			rows = append(rows, row)
		}
	}
	return rows
}

// ask counts the findings and the questions about them, and the covered findings and those of
// them about which a dismissal of the case is asked.
func (c *remembered) ask(others []precedent.Dismissal) tally {
	t := tally{candidates: len(c.findings)}
	covered, own := c.labels(), map[string]bool{}
	for _, yes := range covered {
		if yes {
			t.gold++
		}
	}
	for _, j := range c.dismissals {
		own[j.ID] = true
	}
	memory.Suppress(c.findings, append(others, c.dismissals...), c.now, c.threshold, func(questions []memory.Question) map[int]bool {
		t.hits = len(questions)
		for _, q := range questions {
			if own[q.Dismissal.ID] && covered[q.Finding.ID] {
				t.found++
				covered[q.Finding.ID] = false // count it once
			}
		}
		return nil
	})
	return t
}
