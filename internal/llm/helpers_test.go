package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

const canary = "sk-canary-4f1c9d77aa"

var schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`)

type m = map[string]any

func anthropicAt(t *testing.T, url string) Model {
	t.Helper()
	model, err := Anthropic(Config{Key: canary, BaseURL: url, Model: "claude-test", Now: time.Now})
	needs.NoError(t, err)
	return model
}

func openAIAt(t *testing.T, url string) Model {
	t.Helper()
	model, err := OpenAI(Config{Key: canary, BaseURL: url + "/", Model: "local", Now: time.Now})
	needs.NoError(t, err)
	return model
}

// both are a server of each API with the same replies, and the model behind it.
func both(t *testing.T, replies ...llmtest.Reply) map[string]struct {
	*llmtest.Server
	Model
} {
	t.Helper()
	a, o := llmtest.Anthropic(t, llmtest.Script(replies...)), llmtest.OpenAI(t, llmtest.Script(replies...))
	return map[string]struct {
		*llmtest.Server
		Model
	}{"anthropic": {a, anthropicAt(t, a.URL)}, "openai": {o, openAIAt(t, o.URL)}}
}

// body is the nth request as a server got it.
func body(t *testing.T, s *llmtest.Server, n int) m {
	t.Helper()
	var b m
	needs.NoError(t, json.Unmarshal(s.Requests()[n].Body, &b))
	return b
}

func called(id, name, args string) llmtest.Reply {
	return llmtest.Reply{Calls: []llmtest.Call{{ID: id, Name: name, Args: args}}, Usage: &precedent.Usage{InputTokens: 10}}
}

func failed(status int, message string) llmtest.Reply {
	return llmtest.Reply{Status: status, Message: message}
}

// fakeTime keeps how long was slept.
type fakeTime struct {
	mu    sync.Mutex
	naps  []time.Duration
	slept time.Duration
}

func (f *fakeTime) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Unix(1_700_000_000, 0).Add(f.slept)
}

func (f *fakeTime) waiting() Waiting {
	return Waiting{
		Now: f.now,
		Sleep: func(_ context.Context, d time.Duration) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.naps = append(f.naps, d)
			f.slept += d
			return nil
		},
		Rand: func(n time.Duration) time.Duration { return n - 1 },
	}
}

// kindOf is the kind of an error, which has to be an *Error; empty without one.
func kindOf(err error) Kind {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Kind
	}
	return Kind("another error: " + err.Error())
}

func retryAfterHeader(v string) http.Header { return http.Header{"Retry-After": {v}} }
