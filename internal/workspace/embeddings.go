package workspace

import (
	"context"
	"errors"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// Embeddings is the embedding model that the operator has set.
type Embeddings struct {
	Server *llm.Embeddings
	// Price is that of the model; nil if it is not known. Then it counts in no budget.
	Price    *llm.Price
	Settings *settings.Settings
	Own      []string // secrets of this program, which are never sent
}

// Cost returns what tokens cost in dollars; 0 if the price is not known.
func (e *Embeddings) Cost(tokens int) float64 {
	if e.Price == nil {
		return 0
	}
	return e.Price.Cost(precedent.Usage{InputTokens: tokens})
}

// Embedding is the model as a corpus uses it; nil if none is set. budget bounds its cost.
func (r *Env) Embedding(budget func(s *settings.Settings) *engine.Budget) *corpus.Embedding {
	if r.Embeddings == nil {
		return nil
	}
	e, err := r.Embeddings()
	switch {
	case err != nil:
		return &corpus.Embedding{Err: err}
	case e == nil:
		return nil
	}
	return &corpus.Embedding{
		Model: e.Server.Model(), Host: e.Server.Host(), Dimensions: e.Settings.EmbeddingsDimensions.Value,
		Within: e.Settings.EmbeddingsTimeout.Value, Own: secret.NewOwn(e.Own...),
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			b := budget(e.Settings)
			tokens := llm.ExpectTokens(texts)
			charge, err := b.Reserve(ctx, tokens, e.Cost(tokens))
			if err != nil {
				return nil, err
			}
			got, err := e.Server.Embed(ctx, texts)
			charge(got.Usage.InputTokens, e.Cost(got.Usage.InputTokens))
			return got.Vectors, errors.Join(err, b.Release(ctx))
		},
	}
}

// DayBudget counts costs on the day of a repository.
func DayBudget(s *settings.Settings, rows *store.Repo) *engine.Budget {
	b := BookedBudget(s, rows, 0, nil)
	b.USD, b.Tokens = 0, 0
	return b
}

// embedNew computes the vectors of the comments that have none, if an embedding model is set. If
// that fails, a notice says so: they are found by their words, and the next time gets them.
func (r *Env) embedNew(ctx context.Context, c *corpus.Corpus) {
	if c.Embedding == nil || ctx.Err() != nil {
		return
	}
	if swept, err := c.Embed(ctx); err != nil && ctx.Err() == nil {
		r.Notice(ctx, "%d comments have a vector now, the others have none: %v; the next sync or import goes on",
			swept.Chunks, err)
	}
}
