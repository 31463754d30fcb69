package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/precedent-dev/precedent/internal/llm"
)

// tryTimeout is how long a model may take for one token, retries included.
const tryTimeout = time.Minute

// Try asks a model for one token. M is nil if the engine is not a model behind an API.
func (d *Diagnosis) Try(ctx context.Context, m llm.Model, prices llm.Prices) {
	const name = "try"
	if m == nil {
		d.Add(name, Warning, "", "not tried: only models behind an API can be asked for one token")
		return
	}
	within, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	reply, err := m.Send(within, llm.Request{Prompt: "Say ok.", MaxTokens: 1})
	var modelErr *llm.Error
	// How servers say that one token is too little.
	shortOfTokens := regexp.MustCompile(`(?i)max[_ a-z]*_tokens|output limit`)
	switch {
	case errors.As(err, &modelErr) && modelErr.Kind == llm.KindRequest && shortOfTokens.MatchString(modelErr.Message):
		// Some models need more than a token before they say the first word.
		d.Add(name, Warning, "", "the key was accepted, but the request was not: %v", err)
		return
	case errors.As(err, &modelErr) && modelErr.Kind == llm.KindAuth:
		d.Add(name, Missing, "check the key", "%v", err)
		return
	case err != nil:
		d.Add(name, Missing, "check the network, the address and the provider's status", "%v", err)
		return
	}
	model := cmp.Or(reply.Model, m.Name())
	cost := "price unknown"
	if p, ok := prices.Find(model); ok {
		cost = fmt.Sprintf("$%.6f", p.Cost(reply.Usage))
	}
	d.Add(name, OK, "", "%s answered: %d tokens in, %d out, %s", model, reply.Usage.InputTokens, reply.Usage.OutputTokens,
		cost)
}

// TryEmbeddings asks an embedding model for one vector. Reviews work without it.
func (d *Diagnosis) TryEmbeddings(ctx context.Context, e *llm.Embeddings, limit time.Duration) {
	const name = "try embeddings"
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	got, err := e.Embed(within, []string{"Please check the error."})
	var known *llm.Error
	hint := "check the network, the address and the provider's status"
	switch {
	case err == nil:
		d.Add(name, OK, "", "%s answered with a vector of %d dimensions, for %d tokens", e.Model(), len(got.Vectors[0]),
			got.Usage.InputTokens)
		return
	case errors.Is(err, context.DeadlineExceeded):
		err, hint = fmt.Errorf("%s did not answer within %v", e.Host(), limit), "set embeddings.timeout if the model is slow"
	case errors.As(err, &known) && known.Kind == llm.KindAuth:
		hint = "check the key"
	case errors.As(err, &known) && known.Kind == llm.KindVector:
		hint = "check embeddings.model and embeddings.dimensions"
	}
	d.Add(name, Warning, hint, "%v; comments are compared by their words alone", err)
}
