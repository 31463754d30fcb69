package corpus

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// sweepBatch is after how many chunks a sweep saves: what an interrupted one loses.
const sweepBatch = 256

// mostWithout bounds the chunks of a sweep that have no vector after all.
const mostWithout = 10_000

// Swept is what a sweep did.
type Swept struct {
	Dimensions int
	Chunks     int // that have a vector now and had none before
	// Without are chunks that have none: the model has no usable one for their text, or nothing
	// of it may be sent.
	Without int
}

// Embed computes the vectors of the usable chunks that have none by the embedding model, which
// must be set, the newest first, and saves them as it goes: an interrupted sweep continues where
// it was. A chunk whose text has changed has none. What was done is returned with an error, too.
func (c *Corpus) Embed(ctx context.Context) (Swept, error) {
	e := c.Embedding
	if e.Err != nil {
		return Swept{}, e.Err
	}
	swept := Swept{Dimensions: e.Dimensions}
	if swept.Dimensions == 0 {
		size, err := e.size(ctx)
		if err != nil {
			return swept, err
		}
		swept.Dimensions = size
	}
	for {
		chunks, err := c.Rows.CorpusWithoutVectors(ctx, e.Model, swept.Dimensions, sweepBatch+swept.Without)
		if err != nil || len(chunks) <= swept.Without {
			return swept, err
		}
		// In their order, those that have none after all come before those that nobody asked for yet.
		if err := c.embed(ctx, chunks[swept.Without:], &swept); err != nil {
			return swept, err
		}
		if swept.Without > mostWithout {
			return swept, fmt.Errorf("more than %d comments have no vector", mostWithout)
		}
	}
}

// embed computes and saves the vectors of chunks.
func (c *Corpus) embed(ctx context.Context, chunks []precedent.CorpusChunk, swept *Swept) error {
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = searchedText(&chunks[i])
	}
	vectors, err := c.Embedding.vectors(ctx, texts)
	if err != nil {
		return err
	}
	var save []store.CorpusVector
	for i, v := range vectors {
		h := &chunks[i]
		switch {
		case v == nil:
			swept.Without++
		case len(v) != swept.Dimensions:
			return fmt.Errorf("a vector has %d dimensions, and others of the same model have %d", len(v), swept.Dimensions)
		default:
			save = append(save, store.CorpusVector{
				Kind: h.Kind, ID: h.ID, Chunk: h.Chunk, Model: c.Embedding.Model,
				Hash: store.CorpusHash(h), Vector: v,
			})
		}
	}
	n, err := c.Rows.SaveCorpusVectors(ctx, save)
	swept.Chunks += n
	return err
}

// size asks the model for the number of its dimensions.
func (e *Embedding) size(ctx context.Context) (int, error) {
	vectors, err := e.vectors(ctx, []string{"How many dimensions does a vector have?"})
	if err != nil {
		return 0, err
	}
	if len(vectors[0]) == 0 {
		return 0, errors.New("the model has no vector for a simple question")
	}
	return len(vectors[0]), nil
}
