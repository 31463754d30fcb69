package corpus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/text"
)

// Embedder returns the vector of each text by an embedding model, in their order: of length 1,
// and all with the same number of dimensions. A text that the model has no vector for has nil.
// It bounds and redacts nothing: the corpus does.
type Embedder func(ctx context.Context, texts []string) ([][]float32, error)

// Embedding is an embedding model, as a corpus uses it.
type Embedding struct {
	Embed Embedder
	// Model names it. Vectors of different models, or of a different number of dimensions, are
	// never compared.
	Model string
	// Dimensions is the number of dimensions that the operator set; 0 for the model's own.
	Dimensions int
	// Host names the server, for people.
	Host string
	// Within bounds the time that a search or a review waits for vectors; 0 means no bound.
	Within time.Duration
	// Err says why the model cannot be used as it is set; nil if it can. Then the rest is empty.
	Err error
	// Own are the program's own secrets. A text with a part of one is not sent.
	Own secret.Own
}

// maxSent bounds what is sent of a text, in bytes: about 1,000 tokens. Of 9,325 review comments
// of two repositories, 0.1 % are longer than 3,700.
const maxSent = 4_000

// outgoing is what is sent of a text: without secrets, markers of hidden text and what is too
// long. It is empty if nothing may be sent.
func (e *Embedding) outgoing(s string) string {
	s = secret.RedactText(text.Clean(text.Head(s, 8*maxSent)))
	if e.Own.In(s) {
		return ""
	}
	return strings.TrimSpace(text.Head(s, maxSent))
}

// vectors returns the vectors of texts, each as the corpus would send it. A text of which nothing may be sent has nil.
func (e *Embedding) vectors(ctx context.Context, texts []string) ([][]float32, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	var send []string
	var at []int // their places in texts
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if t = e.outgoing(t); t != "" {
			send, at = append(send, t), append(at, i)
		}
	}
	if len(send) == 0 || ctx.Err() != nil {
		return out, ctx.Err()
	}
	got, err := e.Embed(ctx, send)
	if err == nil && len(got) != len(send) {
		err = fmt.Errorf("%d vectors were returned for %d texts", len(got), len(send))
	}
	if err != nil {
		return out, err
	}
	for n, i := range at {
		out[i] = got[n]
	}
	return out, nil
}

// searchedText is the text of a chunk by which it is found: the words of the first comment, or
// the conversation if it is a later window of a long one.
func searchedText(c *precedent.CorpusChunk) string {
	if c.Chunk > 0 {
		return string(c.Text)
	}
	return string(c.Words)
}
