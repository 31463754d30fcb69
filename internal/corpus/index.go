package corpus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/text"
)

// Index finds chunks of one repository's corpus. It is in memory, and safe for concurrent use.
type Index struct {
	mu     sync.RWMutex
	chunks map[string]precedent.CorpusChunk
}

// NewIndex returns an index of chunks. Those of deleted comments are left out.
func NewIndex(chunks []precedent.CorpusChunk) *Index {
	x := &Index{chunks: map[string]precedent.CorpusChunk{}}
	x.Update(chunks, nil)
	return x
}

// ChunkID identifies a chunk in the index of its repository.
func ChunkID(c *precedent.CorpusChunk) string {
	return fmt.Sprintf("%s/%s/%d", c.Kind, c.ID, c.Chunk)
}

// Update replaces or adds chunks, and removes those with the given ids. A chunk of a comment that
// was deleted is removed, too.
func (x *Index) Update(changed []precedent.CorpusChunk, gone []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range gone {
		delete(x.chunks, id)
	}
	for i := range changed {
		id := ChunkID(&changed[i])
		if !changed[i].DeletedAt.IsZero() {
			delete(x.chunks, id)
			continue
		}
		x.chunks[id] = changed[i]
	}
}

// Len is the number of chunks that are usable as precedents.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0
	for _, c := range x.chunks {
		if c.Unusable == "" {
			n++
		}
	}
	return n
}

// Search finds what people wrote about the words, the lines of code and the path of a query, best
// first, for people and for agents. The ranks and priors of a hit explain its place.
func (x *Index) Search(_ context.Context, q Query) Result {
	hits := x.scan(q.Text, q)
	return Result{Hits: hits, Searched: x.Len()}
}

// scan compares the text with every chunk.
func (x *Index) scan(words string, q Query) []Hit {
	x.mu.RLock()
	defer x.mu.RUnlock()
	v := text.NewVector(words)
	var hits []Hit
	for _, c := range x.chunks {
		if c.Unusable != "" && !q.All || q.Pull != 0 && c.Pull == q.Pull || !q.Before.IsZero() && !c.At.Before(q.Before) {
			continue
		}
		if cosine := text.Cosine(v, text.NewVector(string(c.Words))); cosine > 0 {
			hits = append(hits, Hit{CorpusChunk: c, Score: cosine, Cosine: cosine})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(ChunkID(&a.CorpusChunk), ChunkID(&b.CorpusChunk)))
	})
	return hits[:min(len(hits), cmp.Or(q.Limit, 20))]
}
