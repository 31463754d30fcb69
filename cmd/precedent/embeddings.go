package main

import (
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent/internal/llm"
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
