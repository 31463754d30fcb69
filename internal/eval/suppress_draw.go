package eval

import (
	"math/rand/v2"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/match"
)

// draw applies drawn dismissals to the findings of every pool that has enough of
// them. Equal seeds give equal draws.
func (m *Memories) draw(draws int, seed uint64, hidden func(*pool, []precedent.Dismissal) int) []DrawnMemory {
	var rows []DrawnMemory
	for _, n := range memorySizes {
		row := DrawnMemory{Memories: n}
		var all grouped[tally]
		for i := range m.pools {
			p := &m.pools[i]
			if len(p.findings) == 0 || p.others() < n {
				continue
			}
			row.Findings += len(p.findings)
			for k := range draws {
				wrong := hidden(p, p.pick(n, seed, i*draws+k))
				row.Hidden += wrong
				all.of(p.change).add(tally{hits: wrong, candidates: len(p.findings)})
			}
		}
		row.False, _, _ = intervals(all.list, seed)
		rows = append(rows, row)
	}
	return rows
}

// others counts the dismissals of other changes.
func (p *pool) others() int {
	n := 0
	for i := range p.from {
		if p.from[i].change != p.change {
			n++
		}
	}
	return n
}

// pick draws n dismissals of other changes, each at most once. With more of them, one draw contains what it has with fewer.
func (p *pool) pick(n int, seed uint64, draw int) []precedent.Dismissal {
	rng := rand.New(rand.NewPCG(seed, uint64(draw)))
	taken := map[int]bool{}
	var picked []precedent.Dismissal
	for len(picked) < n {
		if i := rng.IntN(len(p.from)); !taken[i] && p.from[i].change != p.change {
			taken[i] = true
			picked = append(picked, p.from[i].Dismissal)
		}
	}
	return picked
}

// bySimilarity scores similarity thresholds, ignoring everything else that memory considers.
func (m *Memories) bySimilarity(draws int, seed uint64) []SuppressionAt {
	claims := map[string]match.Claim{}
	claimOf := func(s string) match.Claim {
		v, ok := claims[s]
		if !ok {
			v = match.NewClaim(s)
			claims[s] = v
		}
		return v
	}
	nearest := func(f *precedent.Finding, dismissals []precedent.Dismissal) float64 {
		best := 0.0
		for i := range dismissals {
			best = max(best, claimOf(f.Title).Similarity(claimOf(dismissals[i].Claim)))
		}
		return best
	}
	var rows []SuppressionAt
	for _, from := range thresholds {
		row := SuppressionAt{From: from}
		var all grouped[tally]
		for i := range m.cases {
			c := &m.cases[i]
			for k := range c.findings {
				all.of(c.change).add(label(c.covered[k], nearest(&c.findings[k], c.dismissals) >= from))
			}
		}
		row.False, row.Recall, _ = intervals(all.list, seed)
		row.Drawn = m.draw(draws, seed, func(p *pool, dismissals []precedent.Dismissal) (hidden int) {
			for k := range p.findings {
				if nearest(&p.findings[k], dismissals) >= from {
					hidden++
				}
			}
			return hidden
		})
		rows = append(rows, row)
	}
	return rows
}
