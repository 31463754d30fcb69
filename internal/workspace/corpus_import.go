package workspace

import (
	"context"
	"io"
	"slices"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/settings"
)

// CorpusOf is the corpus of a workspace.
func (r *Env) CorpusOf(ctx context.Context, w *Workspace) (*corpus.Corpus, error) {
	rows, err := w.Rows(ctx)
	if err != nil {
		return nil, err
	}
	embedding := r.Embedding(func(s *settings.Settings) *engine.Budget { return DayBudget(s, rows) })
	return &corpus.Corpus{Rows: rows, Now: r.Now, Embedding: embedding}, nil
}

// keptCorpus is the corpus of a workspace that is about to be written to.
func (r *Env) keptCorpus(ctx context.Context, w *Workspace) (*corpus.Corpus, error) {
	if err := r.KeepMemory(ctx, w); err != nil {
		return nil, err
	}
	return r.CorpusOf(ctx, w)
}

// ImportCorpus saves the comments of a file in the corpus, and calls progress after each part.
func (r *Env) ImportCorpus(
	ctx context.Context, w *Workspace, name string, from io.Reader, progress func(corpus.Imported),
) (corpus.Imported, error) {
	c, err := r.keptCorpus(ctx, w)
	if err != nil {
		return corpus.Imported{}, err
	}
	names, err := c.Rows.Names(ctx)
	if err != nil {
		return corpus.Imported{}, err
	}
	o := corpus.ImportOptions{Repos: slices.Concat(w.IDs, names), Progress: progress}
	imported, err := c.Import(ctx, name, from, o)
	if err == nil {
		r.embedNew(ctx, c)
	}
	return imported, err
}

// CorpusStatus says what is in the corpus of a workspace.
func (r *Env) CorpusStatus(ctx context.Context, w *Workspace) (corpus.Status, error) {
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return corpus.Status{}, err
	}
	return c.Status(ctx)
}

// ClearCorpus deletes the corpus of a workspace, and returns how many comments it had.
func (r *Env) ClearCorpus(ctx context.Context, w *Workspace) (int, error) {
	c, err := r.CorpusOf(ctx, w)
	if err != nil {
		return 0, err
	}
	return c.Rows.ClearCorpus(ctx)
}
