package llm

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/precedent-dev/precedent"
)

// The bounds of one request for vectors. A server with smaller ones gets smaller requests.
const (
	// mostTexts is the default of Hugging Face's text-embeddings-inference. OpenAI takes 2,048
	// texts, and DashScope 10.
	mostTexts = 32
	// mostTextBytes is in bytes, together: about 16,000 tokens, Mistral's limit.
	mostTextBytes = 48 << 10
	// leastText is to how many bytes a text is shortened that is too long for a model: a model
	// that does not take 256 tokens is useless.
	leastText = 512
	// mostUnfit is how many texts in a row may have no usable vector before the others are given up: a model
	// that fails for a few texts is known (Ollama with bge-m3), and one that fails for all is out of order.
	mostUnfit = 4
	// maxVector is the largest number of dimensions. Known models have at most 8,192.
	maxVector = 16_384
)

// EmbeddingsConfig says how to reach a server that is compatible with OpenAI's embeddings:
// OpenAI, Ollama, vLLM, llama.cpp, text-embeddings-inference and others.
type EmbeddingsConfig struct {
	Key     Secret // empty for servers that ask for none
	BaseURL string // with the version, such as http://localhost:11434/v1
	Model   string
	// Dimensions is how many each vector is to have. 0 leaves it to the model; servers with
	// models that have one size refuse the parameter.
	Dimensions int
	Waiting    Waiting
}

// Embeddings asks a server for the vectors of texts. It is safe for concurrent use.
type Embeddings struct {
	endpoint
	retries
	url        string
	model      string
	dimensions int // asked for; 0 for none

	mu   sync.Mutex
	size int // of all vectors so far; 0 before the first
	most int // texts of a request, as far as the server has told
}

// Embedded are the vectors of texts.
type Embedded struct {
	// Vectors are in the order of the texts, of length 1, and all of one size. A text for which
	// the model has no usable vector has nil.
	Vectors [][]float32
	Usage   precedent.Usage // an estimate if the server did not count tokens
}

// NewEmbeddings returns the client for a server. It sends nothing.
func NewEmbeddings(c EmbeddingsConfig) (*Embeddings, error) {
	base := strings.TrimSuffix(strings.TrimRight(c.BaseURL, "/"), "/embeddings")
	e, err := newEndpoint(Config{Key: c.Key, BaseURL: base, Model: c.Model, Now: c.Waiting.Now})
	if err != nil {
		return nil, err
	}
	e.header.Set("Accept", "application/json")
	e.bearer()
	return &Embeddings{
		endpoint: e, retries: retries{w: c.Waiting, tries: maxTries}, url: base + "/embeddings",
		model: c.Model, dimensions: c.Dimensions, most: mostTexts,
	}, nil
}

// Model is the name of the model, as the server spells it.
func (e *Embeddings) Model() string { return e.model }

// Host is where requests go.
func (e *Embeddings) Host() string { return e.host }

// ExpectTokens estimates the tokens of texts before they are sent.
func ExpectTokens(texts []string) int {
	n := 0
	for _, t := range texts {
		n += len(t)/charsPerToken + 1
	}
	return n
}

// Embed returns the vectors of texts, in as many requests as needed, and retries like
// Reliable. Errors of the server are an *Error; of KindVector if it answered with something
// else than the vectors that it was asked for. What was spent is returned with an error, too.
func (e *Embeddings) Embed(ctx context.Context, texts []string) (Embedded, error) {
	out := Embedded{Vectors: make([][]float32, len(texts))}
	call := &embedCall{Embeddings: e, out: &out}
	for first := 0; first < len(texts); {
		n := e.fits(texts[first:])
		if err := call.batch(ctx, texts[first:first+n], out.Vectors[first:first+n]); err != nil {
			return out, err
		}
		first += n
	}
	if len(texts) > 0 && call.unfit == len(texts) {
		return out, call.why
	}
	return out, nil
}

// fits is how many of the first texts make one request, at least 1.
func (e *Embeddings) fits(texts []string) int {
	e.mu.Lock()
	most := e.most
	e.mu.Unlock()
	n, size := 1, len(texts[0])
	for n < len(texts) && n < most && size+len(texts[n]) <= mostTextBytes {
		size += len(texts[n])
		n++
	}
	return n
}

// embedCall is one call of Embed.
type embedCall struct {
	*Embeddings
	out        *Embedded
	unfit, row int   // texts without a vector: all, and since the last one that has one
	why        error // of the last of them
}

// batch sends one request. If the server refuses it for its size, or fails for one of the
// texts, it sends smaller ones.
func (c *embedCall) batch(ctx context.Context, texts []string, into [][]float32) error {
	var vectors [][]float32
	err := c.do(ctx, func() (err error) {
		vectors, err = c.send(ctx, texts)
		return err
	})
	var e *Error
	switch {
	case err == nil:
		copy(into, vectors)
		c.row = 0
		return nil
	case !errors.As(err, &e) || !e.ofTexts(len(texts)):
		return err
	case len(texts) > 1:
		half := len(texts) / 2
		if e.Kind == KindRequest || e.Kind == KindTooLarge { // later requests are as small
			c.mu.Lock()
			c.most = min(c.most, half)
			c.mu.Unlock()
		}
		if err := c.batch(ctx, texts[:half], into[:half]); err != nil {
			return err
		}
		return c.batch(ctx, texts[half:], into[half:])
	case e.Kind == KindContext && len(texts[0]) > leastText:
		shorter := strings.ToValidUTF8(texts[0][:max(leastText, len(texts[0])/2)], "")
		return c.batch(ctx, []string{shorter}, into)
	}
	c.why = err
	c.unfit++
	if c.row++; c.row > mostUnfit {
		return err
	}
	return nil
}

// ofTexts tells whether an error may be due to one of n texts, or to their number, so that
// smaller requests may succeed.
func (e *Error) ofTexts(n int) bool {
	switch e.Kind {
	case KindContext:
		return true
	case KindTooLarge:
		return n > 1
	case KindVector:
		return e.unfit
	case KindRequest:
		message := strings.ToLower(e.Message)
		return n > 1 && (strings.Contains(message, "batch") || strings.Contains(message, "too many") ||
			strings.Contains(message, "too large"))
	}
	return false
}

// send sends one request.
func (c *embedCall) send(ctx context.Context, texts []string) ([][]float32, error) {
	body := map[string]any{"model": c.model, "input": texts}
	if c.dimensions > 0 {
		body["dimensions"] = c.dimensions
	}
	c.out.Usage.Requests++
	var data []byte
	err := c.post(ctx, c.url, body, nil, func(reply io.Reader) (err error) {
		data, err = io.ReadAll(reply)
		return err
	})
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == KindServer && strings.Contains(e.Message, "NaN") {
		e.Kind, e.unfit = KindVector, true // Ollama cannot write its own vector
	}
	if err != nil {
		return nil, err
	}
	return c.read(data, texts)
}
