package corpus

import (
	"cmp"
	"slices"

	"github.com/precedent-dev/precedent/internal/search"
)

// defaultLimit is how many hits a query without a limit gets.
const defaultLimit = 20

// ranker collects the hits of a query. The index is locked while it is used.
type ranker struct {
	x     *Index
	q     *Query
	found map[string]*Hit
	// firstOnly leaves out all but the first window of a conversation, which has what its first
	// comment says.
	firstOnly bool
}

func (x *Index) ranker(q *Query) *ranker {
	return &ranker{x: x, q: q, found: map[string]*Hit{}}
}

// find asks the index for candidates.
func (r *ranker) find(s search.Query) []search.Hit {
	s.NotGroup, s.Before = r.q.Pull, r.q.Before
	hits := r.x.usable.Search(s)
	if r.q.All {
		hits = append(hits, r.x.others.Search(s)...)
	}
	return slices.DeleteFunc(hits, func(h search.Hit) bool {
		c := r.x.chunks[h.ID]
		return c == nil || !r.q.may(c) || r.firstOnly && c.Chunk > 0
	})
}

func (r *ranker) profile(id string) *profile {
	return r.x.profiles.get(id, func() *profile { return r.x.profileOf(r.x.chunks[id]) })
}

// add adds a score to a chunk's.
func (r *ranker) add(h search.Hit, score float64) {
	if score <= 0 {
		return
	}
	f := r.found[h.ID]
	if f == nil {
		f = &Hit{CorpusChunk: *r.x.chunks[h.ID], Cosine: h.Cosine}
		r.found[h.ID] = f
	}
	f.Score += score
	f.Ranks = append(f.Ranks, h.Ranks...)
}

// hits returns the best chunk of each comment, the best first.
func (r *ranker) hits() []Hit {
	out := make([]Hit, 0, len(r.found))
	for _, h := range r.found {
		for _, p := range r.x.priors(&h.CorpusChunk, r.q) {
			h.Score *= p.Factor
			h.Priors = append(h.Priors, p)
		}
		out = append(out, *h)
	}
	slices.SortFunc(out, byScore)
	type comment struct{ kind, id string }
	seen := map[comment]bool{}
	out = slices.DeleteFunc(out, func(h Hit) bool {
		k := comment{h.Kind, string(h.ID)}
		again := seen[k]
		seen[k] = true
		return again
	})
	limit := cmp.Or(r.q.Limit, defaultLimit)
	return out[:max(0, min(len(out), limit))]
}

// byScore orders hits: the best first, of equal ones the newest.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(ChunkID(&a.CorpusChunk), ChunkID(&b.CorpusChunk)))
}
