package corpus

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
)

// defaultLimit is how many hits a query without a limit gets.
const defaultLimit = 20

// depth is how many chunks the words of a query find in each field, to be compared with it.
const depth = 250

// ranker collects the hits of a query.
type ranker struct {
	x     *Index
	q     *Query
	found map[int64]*Hit
	// firstOnly leaves out all but the first window of a conversation, which has what its first
	// comment says.
	firstOnly bool
	short     bool  // also what is too short to be cited
	err       error // of reading chunks
}

func (x *Index) ranker(q *Query) *ranker {
	return &ranker{x: x, q: q, found: map[int64]*Hit{}}
}

// may reports whether the query is about a chunk.
func (r *ranker) may(f *search.Filter) bool {
	return (r.q.Pull == 0 || f.Group != r.q.Pull) && (r.q.Before.IsZero() || f.At.Before(r.q.Before)) &&
		(r.q.All || f.Usable || f.Short && r.short) && (f.First || !r.firstOnly)
}

// fieldLists names the lists of hits by the fields of chunks.
var fieldLists = [...]string{search.Text: "text-words", search.Lines: "line-words", search.Path: "path-words"}

// candidate is a chunk that the words of a query found.
type candidate struct {
	search.Hit
	*profile
}

// candidates returns what is to be compared with a query.
func (r *ranker) candidates(ctx context.Context, q search.Query) []candidate {
	q.May, q.Depth = r.may, depth
	hits := r.x.terms.Search(q)
	profiles, err := r.x.profiles(ctx, hits)
	if err != nil {
		r.err = err
		return nil
	}
	all := make([]candidate, 0, len(hits))
	for _, h := range hits {
		if p := profiles[h.Number]; p != nil { // else it was deleted meanwhile
			all = append(all, candidate{h, p})
		}
	}
	return all
}

// score adds a score to that of a candidate, with the similarity of the texts.
func (r *ranker) score(c candidate, score, cosine float64) {
	var ranks []Rank
	for f, at := range c.Ranks {
		if at.Place > 0 {
			ranks = append(ranks, Rank{fieldLists[f], at.Place, at.Score})
		}
	}
	r.add(c.Number, c.chunk, score, cosine, ranks...)
}

// add adds a score to a chunk's.
func (r *ranker) add(number int64, c *precedent.CorpusChunk, score, cosine float64, ranks ...Rank) {
	if score <= 0 {
		return
	}
	f := r.found[number]
	if f == nil {
		f = &Hit{CorpusChunk: *c, Cosine: cosine}
		r.found[number] = f
	}
	f.Score += score
	f.Ranks = append(f.Ranks, ranks...)
}

// hits returns the best chunk of each comment, the best first.
func (r *ranker) hits() ([]Hit, error) {
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
	return out[:max(0, min(len(out), limit))], r.err
}

// byScore orders hits: the best first, of equal ones the newest.
func byScore(a, b Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.ID, b.ID), cmp.Compare(a.Chunk, b.Chunk))
}

// The priors: what makes a comment count more or less, whatever it says.
const (
	samePathPrior   = 1.15
	maintainerPrior = 1.1
	notTakenPrior   = 0.5
	halfLife        = 18 * 30 * 24 * time.Hour
	leastRecency    = 0.8 // of a comment of any age: none loses to a newer one that says something else
)

// priors are the factors of a chunk's score, which do not depend on its words.
func (x *Index) priors(c *precedent.CorpusChunk, q *Query) []Prior {
	var out []Prior
	if q.Path != "" && c.Path == q.Path {
		out = append(out, Prior{samePathPrior, "the same file"})
	}
	if c.MayWrite {
		out = append(out, Prior{maintainerPrior, "its author could write to the repository"})
	}
	switch c.Outcome {
	case precedent.CommentDeclined:
		out = append(out, Prior{notTakenPrior, "it was declined"})
	case precedent.CommentReverted:
		out = append(out, Prior{notTakenPrior, "what it led to was reverted"})
	}
	now := q.Before
	if now.IsZero() {
		now = x.terms.Newest()
	}
	if age := now.Sub(c.At); age > 0 {
		f := leastRecency + (1-leastRecency)*math.Pow(0.5, float64(age)/float64(halfLife))
		out = append(out, Prior{f, "its age"})
	}
	return out
}
