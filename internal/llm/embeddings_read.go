package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent/internal/strict"
)

// embeddingsReply is what a server answers.
type embeddingsReply struct {
	Data []struct {
		Index     *int            `json:"index"`
		Embedding json.RawMessage `json:"embedding"`
	} `json:"data"`
	Usage *struct {
		PromptTokens int `json:"prompt_tokens"`
		TotalTokens  int `json:"total_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// wrong is a reply that cannot be used.
func (e *Embeddings) wrong(format string, args ...any) *Error {
	return &Error{Kind: KindVector, Host: e.host, Message: e.quote(fmt.Sprintf(format, args...))}
}

// read checks a reply and returns its vectors in the order of the texts.
func (c *embedCall) read(data []byte, texts []string) ([][]float32, error) {
	var reply embeddingsReply
	if err := strict.Unmarshal(data, &reply); err != nil {
		// as some encoders of JSON write them
		if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
			e := c.wrong("a vector has a value that is not a finite number")
			e.unfit = true
			return nil, e
		}
		return nil, &Error{Kind: KindServer, Host: c.host, Message: "the reply is not JSON, or was cut short"}
	}
	if len(reply.Data) == 0 && len(reply.Error) > 0 && string(reply.Error) != "null" {
		return nil, &Error{Kind: KindServer, Host: c.host, Message: c.quote(errorMessage(data))}
	}
	if u := reply.Usage; u != nil && max(u.PromptTokens, u.TotalTokens) > 0 {
		c.out.Usage.InputTokens += max(u.PromptTokens, u.TotalTokens)
	} else {
		c.out.Usage.InputTokens += ExpectTokens(texts)
	}
	if len(reply.Data) != len(texts) {
		return nil, c.wrong("%d vectors were returned for %d texts", len(reply.Data), len(texts))
	}
	vectors := make([][]float32, len(texts))
	for i, d := range reply.Data {
		at := i // of servers that do not number them
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= len(texts) || vectors[at] != nil || (d.Index == nil) != (reply.Data[0].Index == nil) {
			return nil, c.wrong("the vectors are not numbered like the texts")
		}
		v, err := c.vector(d.Embedding)
		if err != nil {
			return nil, err
		}
		vectors[at] = v
	}
	return vectors, c.agree(vectors)
}

// agree checks that all vectors have the size that was asked for, or that of those before.
func (e *Embeddings) agree(vectors [][]float32) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	size := e.size
	for _, v := range vectors {
		switch {
		case e.dimensions > 0 && len(v) != e.dimensions:
			return e.wrong("a vector has %d dimensions, and %d are set", len(v), e.dimensions)
		case size > 0 && len(v) != size:
			return e.wrong("a vector has %d dimensions, and others of the same model have %d", len(v), size)
		}
		size = len(v)
	}
	e.size = size
	return nil
}

// vector reads one vector from an array of numbers, the encoding that every server sends if none is asked for. It
// has the length 1 then.
func (e *Embeddings) vector(raw json.RawMessage) ([]float32, error) {
	unfit := func(format string, args ...any) ([]float32, error) {
		err := e.wrong(format, args...)
		err.unfit = true
		return nil, err
	}
	v, ok := fromNumbers(raw)
	if !ok {
		return unfit("a vector has a value that is not a finite number")
	}
	if len(v) == 0 || len(v) > maxVector {
		return nil, e.wrong("a vector has %d dimensions", len(v))
	}
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return unfit("a vector has no direction: all its values are 0, or one is not a finite number")
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / length)
	}
	return v, nil
}

// fromNumbers reads an array of numbers. Null is none: encoders write it for NaN.
func fromNumbers(raw []byte) ([]float32, bool) {
	var numbers []*float64
	if json.Unmarshal(raw, &numbers) != nil || numbers == nil {
		return nil, false
	}
	v := make([]float32, len(numbers))
	for i, f := range numbers {
		if f == nil || math.Abs(*f) > math.MaxFloat32 {
			return nil, false
		}
		v[i] = float32(*f)
	}
	return v, true
}
