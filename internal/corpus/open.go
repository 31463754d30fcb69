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
	x := &Index{chunks: map[string]*precedent.CorpusChunk{}, usable: search.New(nil), others: search.New(nil)}
	if err := c.readVectors(ctx, &x.vectors); err != nil {
		return nil, err
	}
	var chunks []precedent.CorpusChunk
	err := c.Rows.CorpusChunks(ctx, func(h precedent.CorpusChunk) error {
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
