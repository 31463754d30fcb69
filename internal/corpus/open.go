package corpus

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/search"
)

// Open reads the corpus into an index, with the vectors of its embedding model. If there are none
// or they cannot be read, searches say so and compare words alone.
func (c *Corpus) Open(ctx context.Context) (*Index, error) {
	if err := c.Refresh(ctx); err != nil {
		return nil, err
	}
	revision, err := c.Rows.CorpusRevision(ctx)
	if err != nil {
		return nil, err
	}
	x := &Index{revision: revision, chunks: map[string]*precedent.CorpusChunk{}, usable: search.New(nil), others: search.New(nil)}
	if err := c.readVectors(ctx, &x.vectors); err != nil {
		return nil, err
	}
	var chunks []precedent.CorpusChunk
	err = c.Rows.CorpusChunks(ctx, func(h precedent.CorpusChunk) error {
		chunks = append(chunks, h)
		return nil
	})
	if err != nil {
		return nil, err
	}
	x.Update(chunks, nil)
	x.vectors.chunks = nil // the index has them
	return x, nil
}

// Renew brings an index that Open returned up to date with the corpus, and returns it, or a new one
// if the corpus was cleared since or the index has vectors, which may have changed as well. Calls
// for one index come one after the other; searches may run meanwhile.
func (c *Corpus) Renew(ctx context.Context, x *Index) (*Index, error) {
	if err := c.Refresh(ctx); err != nil {
		return nil, err
	}
	changed, err := c.Rows.CorpusChanged(ctx, x.revision)
	switch {
	case err != nil:
		return nil, err
	case changed.Revision == x.revision && !changed.Reset:
		return x, nil
	case changed.Reset || c.Embedding != nil:
		return c.Open(ctx)
	}
	x.Update(changed.Chunks, nil)
	x.revision = changed.Revision
	return x, nil
}
