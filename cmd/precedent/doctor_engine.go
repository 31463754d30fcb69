package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/engine/api"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/settings"
)

// checkEngine says what reads, and with try asks it something.
func (a *app) checkEngine(ctx context.Context, d *diagnosis, op *settings.Settings, try bool) {
	const name = "engine"
	r, err := a.reader(op)
	if err != nil {
		d.wrong(name, missing, err)
		return
	}
	var keys []string
	for _, variable := range []string{settings.KeyOf[settings.Anthropic], settings.KeyOf[settings.OpenAI]} {
		said := "not set"
		if a.env[variable] != "" {
			said = "set"
		}
		keys = append(keys, variable+" is "+said)
	}
	about := strings.Join(keys, ", ")
	switch {
	case r.model != nil:
		d.say(name, fine, "", "%s; %s", api.New(api.Config{Model: r.model, Prices: llm.ListPrices().With(op.Prices), Why: r.from}).Info().Line, about)
	case r.agent != "":
		d.say(name, fine, "", "claude %s (%s); %s", r.agent, r.from, about)
	case r.program != nil:
		d.say(name, fine, "", "%s", r.program.Info().Line)
	default:
		d.say(name, warned, "set a key, or name a program or a local server: docs/getting-started.md", "%s: only the analyzers read; %s", r.why, about)
	}
	if try {
		a.tryEngine(ctx, d, op, r)
	}
}

// tryPatience is how long a model may take for one token, retries included.
const tryPatience = time.Minute

// shortOfTokens fits how servers say that one token is too little.
var shortOfTokens = regexp.MustCompile(`(?i)max[_ a-z]*_tokens|output limit`)

// tryEngine asks a model for one token.
func (a *app) tryEngine(ctx context.Context, d *diagnosis, op *settings.Settings, r reader) {
	const name = "try"
	if r.model == nil {
		d.say(name, warned, "", "nothing was asked: only models behind an API can be asked for one token")
		return
	}
	within, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	reply, err := r.model.Send(within, llm.Request{Prompt: "Say ok.", MaxTokens: 1})
	var trouble *llm.Error
	switch {
	case errors.As(err, &trouble) && trouble.Kind == llm.KindRequest && shortOfTokens.MatchString(trouble.Message):
		// Some models need more than a token before they say the first word.
		d.say(name, warned, "", "the key is accepted, but not the request: %v", err)
		return
	case errors.As(err, &trouble) && trouble.Kind == llm.KindAuth:
		d.say(name, missing, "look at the key", "%v", err)
		return
	case err != nil:
		d.say(name, missing, "look at the network, the address and the provider's status", "%v", err)
		return
	}
	cost := "its price is not known"
	if p, ok := llm.ListPrices().With(op.Prices).Find(or(reply.Model, r.model.Name())); ok {
		cost = fmt.Sprintf("$%.6f", p.Cost(reply.Usage))
	}
	d.say(name, fine, "", "%s answered: %d tokens in, %d out, %s", or(reply.Model, r.model.Name()), reply.Usage.InputTokens, reply.Usage.OutputTokens, cost)
}
