package search

import (
	"cmp"
	"slices"
	"strings"
)

// fusion is k of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const fusion = 60

// The defaults of a query.
const (
	defaultDepth = 100
	defaultLimit = 20
)

// scored is a document and its score in a list.
type scored struct {
	number uint32
	score  float64
}

// Search returns the best documents by the sum of 1 / (60 + rank) over the fused lists. Documents
// with the same score are in the order of their ids, in a list too.
func (x *Index) Search(q Query) []Hit {
	q.Depth, q.Limit = cmp.Or(q.Depth, defaultDepth), cmp.Or(q.Limit, defaultLimit)
	x.mu.RLock()
	defer x.mu.RUnlock()
	f := x.filter(&q)
	hits := map[uint32]*Hit{}
	done := map[List]bool{}
	for _, l := range slices.Concat(q.Fused, q.Lists) {
		if done[l] {
			continue
		}
		done[l] = true
		for i, d := range x.list(l, &q, &f) {
			h := hits[d.number]
			if h == nil {
				h = &Hit{ID: x.entries[d.number].id}
				hits[d.number] = h
			}
			h.Ranks = append(h.Ranks, Rank{l, i + 1, d.score})
			if slices.Contains(q.Fused, l) {
				h.Score += 1 / float64(fusion+i+1)
			}
		}
	}
	out := make([]Hit, 0, len(hits))
	for _, h := range hits {
		if h.Score > 0 {
			out = append(out, *h)
		}
	}
	slices.SortFunc(out, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	out = out[:min(len(out), q.Limit)]
	grams := x.textChars.query(q.Text)
	for i := range out {
		out[i].Cosine = x.textChars.cosine(grams, x.numbers[out[i].ID])
	}
	return out
}

// list returns the best documents of a list, the best first.
func (x *Index) list(l List, q *Query, f *filter) []scored {
	switch l {
	case TextWords:
		return x.text.search(q.Text, f, q.Depth)
	case LineWords:
		return x.lines.search(q.Lines, f, q.Depth)
	case PathWords:
		return x.path.search(q.Path+"\n"+q.Symbol, f, q.Depth)
	case TextChars:
		return x.textChars.search(q.Text, f, q.Depth)
	case LineChars:
		return x.lineChars.search(q.Lines, f, q.Depth)
	case TextVector:
		return x.vectors.search(q.Vector, f, q.Depth)
	}
	return nil
}

// best returns the documents with the highest scores above 0 that a filter has.
func best(scores []float64, f *filter, depth int) []scored {
	var all []scored
	for n, s := range scores {
		if s > 0 && f.has(uint32(n)) {
			all = append(all, scored{uint32(n), s})
		}
	}
	slices.SortFunc(all, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(f.entries[a.number].id, f.entries[b.number].id))
	})
	return all[:min(len(all), depth)]
}
