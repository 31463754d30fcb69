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

// Search returns the best documents by the sum of 1 / (60 + rank) over the fused lists. Documents
// with the same score are in the order of their ids, in a list too.
func (x *Index) Search(q Query) []Hit {
	q.Depth, q.Limit = cmp.Or(q.Depth, defaultDepth), cmp.Or(q.Limit, defaultLimit)
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.search(&q)
}

func (x *documents) search(q *Query) []Hit {
	f := newFilter(x.entries, q)
	grams := x.textChars.query(q.Text)
	defer grams.done()
	var lists []List
	for _, l := range slices.Concat(q.Fused, q.Lists) {
		if !slices.Contains(lists, l) {
			lists = append(lists, l)
		}
	}
	results := make([][]scored, len(lists))
	parallel(len(lists), func(i int) { results[i] = x.list(lists[i], q, grams, &f) })
	hits := x.fuse(q, lists, results)
	var terms []posting
	for i := range hits {
		hits[i].Cosine = x.textChars.cosine(grams, hits[i].number, &terms)
	}
	out := make([]Hit, len(hits))
	for i := range hits {
		out[i] = hits[i].Hit
	}
	return out
}

// found is a hit and the number of its document.
type found struct {
	Hit
	number uint32
}

// fuse returns the best documents of the results of lists. The fused lists come first.
func (x *documents) fuse(q *Query, lists []List, results [][]scored) []found {
	var all []found
	places := map[uint32]int{} // in all
	for i, l := range lists {
		fused := slices.Contains(q.Fused, l)
		for j, d := range results[i] {
			place, ok := places[d.number]
			if !ok && !fused {
				continue
			} else if !ok {
				place = len(all)
				places[d.number] = place
				all = append(all, found{Hit: Hit{ID: x.entries[d.number].id}, number: d.number})
			}
			h := &all[place]
			h.Ranks = append(h.Ranks, Rank{l, j + 1, d.score})
			if fused {
				h.Score += 1 / float64(fusion+j+1)
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return all[:min(len(all), q.Limit)]
}

// list returns the best documents of a list, the best first.
func (x *documents) list(l List, q *Query, text *gramQuery, f *filter) []scored {
	switch l {
	case TextWords:
		return x.text.search(q.Text, f, q.Depth)
	case LineWords:
		return x.lines.search(q.Lines, f, q.Depth)
	case PathWords:
		return x.path.search(q.Path, f, q.Depth)
	case TextChars:
		return x.textChars.search(text, f, q.Depth)
	case LineChars:
		grams := x.lineChars.query(q.Lines)
		defer grams.done()
		return x.lineChars.search(grams, f, q.Depth)
	case TextVector:
		return x.vectors.search(q.Vector, f, q.Depth)
	}
	return nil
}
