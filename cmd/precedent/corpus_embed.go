package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/report"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// embeddings returns the embedding model of the settings; nil if none is set.
func (a *app) embeddings(op *settings.Settings) (*workspace.Embeddings, error) {
	if op.EmbeddingsURL.Value == "" {
		return nil, nil
	}
	if op.EmbeddingsModel.Value == "" {
		return nil, hinted(errors.New("embeddings: a URL is set, but no model"),
			"set embeddings.model in the configuration file, or PRECEDENT_EMBEDDINGS_MODEL")
	}
	server, err := llm.NewEmbeddings(llm.EmbeddingsConfig{
		Key: llm.Secret(a.env[settings.EmbeddingsKey]), BaseURL: op.EmbeddingsURL.Value, Model: op.EmbeddingsModel.Value,
		Dimensions: op.EmbeddingsDimensions.Value, Waiting: llm.RealWaiting(),
	})
	if err != nil {
		return nil, hinted(fmt.Errorf("embeddings: %w", err), "check embeddings.url")
	}
	e := &workspace.Embeddings{Server: server, Settings: op}
	if price, ok := llm.ListPrices().With(op.Prices).Find(server.Model()); ok {
		e.Price = &price
	}
	for _, name := range append([]string{markerKeyVariable}, secretVariables...) {
		if v := a.env[name]; v != "" {
			e.Own = append(e.Own, v)
		}
	}
	return e, nil
}

func newCorpusEmbed(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "embed",
		Short: "Compute the vectors of comments by the embedding model",
		Long: `Embed sends the words of the usable comments that have no vector yet to the embedding
model, without secrets, and saves the vectors. Sync and import do that, too. If it is
interrupted, the next one continues. A comment that was edited gets a new vector, and
another model has vectors of its own.

The model is set in the configuration file, as embeddings: {url: URL, model: NAME}, or by
PRECEDENT_EMBEDDINGS_URL and PRECEDENT_EMBEDDINGS_MODEL; its key is in
PRECEDENT_EMBEDDINGS_KEY. The cost counts for max_cost_per_day, if the price is known.`,
		Example: "  precedent corpus embed",
		Args:    exactly(0),
		RunE: a.withMemory(func(cmd *cobra.Command, _ []string, w *workspace.Workspace) error {
			line := a.progressLine()
			swept, err := a.workflow().EmbedCorpus(cmd.Context(), w, func(done int) { line.show("%d comments", done) })
			line.end()
			if errors.Is(err, corpus.ErrNoEmbedding) {
				return hinted(err, "set embeddings.url and embeddings.model: docs/configuration.md")
			}
			if err != nil {
				if swept.Chunks > 0 {
					a.notice("stopped after %s; the vectors until then are stored, and the next run continues",
						plural(swept.Chunks, "comment"))
				}
				return fmt.Errorf("compute vectors: %w", err)
			}
			if asJSON {
				return report.Value(a.out, swept)
			}
			p := a.page()
			p.Para("", p.Inkf(report.Plain, "%s got a vector of %s with %d dimensions", plural(swept.Chunks, "comment"),
				swept.Model, swept.Dimensions))
			if swept.Without > 0 {
				p.Para("",
					p.Inkf(report.Plain, "%s got none: the model has no usable vector for them, or they hold nothing but secrets",
						plural(swept.Without, "comment")))
			}
			if op, err := a.settings(nil); err == nil {
				if e, err := a.embeddings(op); err == nil && e != nil && e.Price == nil {
					p.Para("", p.Inkf(report.Faint, "the price of %s is not known, so the cost is not counted; set it in prices",
						swept.Model))
				}
			}
			return p.Err()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	addSettings(cmd, memorySettings...)
	return cmd
}
