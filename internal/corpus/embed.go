package corpus

import "context"

// Embedder returns the vector of each text by an embedding model, in their order: of length 1,
// and all with the same number of dimensions. A text that the model has no vector for has nil.
// It bounds and redacts nothing: the caller does.
type Embedder func(ctx context.Context, texts []string) ([][]float32, error)

// Embedding is an embedding model, as a corpus uses it.
type Embedding struct {
	Embed Embedder
	// Model names it. Vectors of different models, or of a different number of dimensions, are
	// never compared.
	Model string
	// Dimensions is the number of dimensions that the operator set; 0 for the model's own.
	Dimensions int
}
