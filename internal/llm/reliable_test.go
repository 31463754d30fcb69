package llm

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

func TestReliable(t *testing.T) {
	ok, overloaded := llmtest.Reply{Text: "fine"}, failed(529, "Overloaded")
	for _, test := range []struct {
		name     string
		replies  []llmtest.Reply
		kind     Kind // of the error; empty for none
		requests int
		naps     []time.Duration
	}{
		{"Retry-After to the second", []llmtest.Reply{{Status: 429, Header: retryAfterHeader("17")}, ok}, "", 2, []time.Duration{17 * time.Second}},
		{"overloaded three times", []llmtest.Reply{overloaded, overloaded, overloaded, ok}, "", 4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"overloaded for ever", []llmtest.Reply{overloaded}, KindOverloaded, 4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"broken within the stream", []llmtest.Reply{{Broken: "overloaded_error"}, ok}, "", 2, []time.Duration{2 * time.Second}},
		{"cut short", []llmtest.Reply{{Text: "fine", Cut: 250}, ok}, "", 2, []time.Duration{2 * time.Second}},
		{"torn off", []llmtest.Reply{{Text: "fine", Cut: 250, Torn: true}, ok}, "", 2, []time.Duration{2 * time.Second}},
		{"a wait that is too long", []llmtest.Reply{{Status: 429, Header: retryAfterHeader("86400")}}, KindRate, 1, nil},
		{"bad key", []llmtest.Reply{failed(401, "invalid x-api-key")}, KindAuth, 1, nil},
		{"bad request", []llmtest.Reply{failed(400, "")}, KindRequest, 1, nil},
		{"too long", []llmtest.Reply{failed(400, "prompt is too long: 203284 tokens > 200000 maximum")}, KindContext, 1, nil},
		{"redirect", []llmtest.Reply{{Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:9/steal"}}}}, KindRequest, 1, nil},
	} {
		for api, s := range both(t, test.replies...) {
			t.Run(api+" "+test.name, func(t *testing.T) {
				requests := test.requests
				if api == "openai" && test.name == "bad request" {
					requests++ // without a field that older servers do not know
				}
				clock := &fakeTime{}
				_, err := Reliable(s.Model, clock.waiting()).Send(t.Context(), Request{Prompt: "p"})
				var e *Error
				if errors.As(err, &e) != (test.kind != "") || (e != nil && e.Kind != test.kind) {
					t.Errorf("error %v, want kind %q", err, test.kind)
				}
				if n := len(s.Requests()); n != requests {
					t.Errorf("%d requests, want %d", n, requests)
				}
				// The random part is the whole backoff less one, plus a millisecond.
				for i, want := range test.naps {
					if i >= len(clock.naps) || (clock.naps[i]-want).Abs() > time.Millisecond {
						t.Fatalf("waited %v, want %v", clock.naps, test.naps)
					}
				}
				if len(clock.naps) != len(test.naps) {
					t.Errorf("waited %v, want %v", clock.naps, test.naps)
				}
			})
		}
	}
}

func TestIdleStreams(t *testing.T) {
	const idle = 300 * time.Millisecond // enough for a request to arrive
	for name, reply := range map[string]llmtest.Reply{"silent": {Hold: llmtest.Never}, "stops within": {Pause: llmtest.Never}, "drips": {Drip: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, o := llmtest.Anthropic(t, llmtest.Script(reply)), llmtest.OpenAI(t, llmtest.Script(reply))
			first, err := Anthropic(AnthropicConfig{Key: canary, BaseURL: a.URL, Model: "x", Now: time.Now, FirstWait: idle, Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			second, err := OpenAI(OpenAIConfig{Key: canary, BaseURL: o.URL, Model: "x", Now: time.Now, FirstWait: idle, Idle: idle})
			if err != nil {
				t.Fatal(err)
			}
			for model, s := range map[Model]*llmtest.Server{first: a, second: o} {
				clock := &fakeTime{}
				_, err = Reliable(model, clock.waiting()).Send(t.Context(), Request{Prompt: "p"})
				var e *Error
				if !errors.As(err, &e) || e.Kind != KindTimeout {
					t.Errorf("error %v", err)
				}
				if n := len(s.Requests()); n != maxTimeoutTries {
					t.Errorf("%d requests", n)
				}
			}
		})
	}
}

func TestFailover(t *testing.T) {
	for name, test := range map[string]struct {
		first llmtest.Reply
		fails bool
	}{
		"down":           {failed(503, ""), false},
		"a small window": {failed(400, "prompt is too long: 203284 tokens > 200000 maximum"), false},
		"a bad request":  {failed(400, "messages: at least one message is required"), true},
	} {
		clock := &fakeTime{}
		s := llmtest.Anthropic(t, llmtest.Script(test.first))
		next := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: "fine"}))
		model := Failover(Reliable(anthropicAt(t, s.URL), clock.waiting()), Reliable(anthropicAt(t, next.URL), clock.waiting()))
		reply, err := model.Send(t.Context(), Request{Prompt: "p"})
		if (err != nil) != test.fails || (reply.Text == "fine") == test.fails {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}

func TestCancelledAtOnce(t *testing.T) {
	for _, build := range []func(context.CancelFunc) Model{
		func(cancel context.CancelFunc) Model {
			return anthropicAt(t, llmtest.Anthropic(t, func(llmtest.Request) llmtest.Reply { cancel(); return llmtest.Reply{Hold: llmtest.Never} }).URL)
		},
		func(cancel context.CancelFunc) Model {
			return openAIAt(t, llmtest.OpenAI(t, func(llmtest.Request) llmtest.Reply { cancel(); return llmtest.Reply{Hold: llmtest.Never} }).URL)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := Reliable(build(cancel), RealWaiting()).Send(ctx, Request{Prompt: "p"}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		cancel()
	}
}
