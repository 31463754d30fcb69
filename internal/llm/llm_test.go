package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

const canary = "sk-canary-4f1c9d77aa"

// server answers request n (from 0) with the nth handler, the last one for ever,
// and keeps what it was sent.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []map[string]any
	headers []http.Header
}

func serve(t *testing.T, handlers ...http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil {
			t.Errorf("request body: %v", err)
		}
		s.mu.Lock()
		n := len(s.bodies)
		s.bodies = append(s.bodies, body)
		s.headers = append(s.headers, r.Header.Clone())
		s.mu.Unlock()
		handlers[min(n, len(handlers)-1)](w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

func (s *server) body(n int) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[n]
}

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if k, v, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

func event(w io.Writer, kind string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

type m = map[string]any

// says streams a reply in the form of Anthropic's API, text in two pieces.
func says(text, stop string, usage m) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		start(w, usage)
		event(w, "content_block_start", m{"type": "content_block_start", "index": 0, "content_block": m{"type": "text", "text": ""}})
		for _, piece := range []string{text[:len(text)/2], text[len(text)/2:]} {
			event(w, "content_block_delta", m{"type": "content_block_delta", "index": 0, "delta": m{"type": "text_delta", "text": piece}})
		}
		event(w, "content_block_stop", m{"type": "content_block_stop", "index": 0})
		end(w, stop)
	}
}

// calls streams a tool call.
func calls(id, name, args string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		start(w, m{"input_tokens": 10})
		event(w, "content_block_start", m{"type": "content_block_start", "index": 0, "content_block": m{"type": "tool_use", "id": id, "name": name, "input": m{}}})
		event(w, "content_block_delta", m{"type": "content_block_delta", "index": 0, "delta": m{"type": "input_json_delta", "partial_json": args}})
		event(w, "content_block_stop", m{"type": "content_block_stop", "index": 0})
		end(w, "tool_use")
	}
}

func start(w io.Writer, usage m) {
	event(w, "message_start", m{"type": "message_start", "message": m{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-1", "content": []any{}, "usage": usage,
	}})
}

func end(w io.Writer, stop string) {
	event(w, "message_delta", m{"type": "message_delta", "delta": m{"stop_reason": stop}, "usage": m{"output_tokens": 7}})
	event(w, "message_stop", m{"type": "message_stop"})
}

func anthropicAt(t *testing.T, s *server) Model {
	t.Helper()
	model, err := Anthropic(AnthropicConfig{Key: canary, BaseURL: s.URL, Model: "claude-test", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func openAIAt(t *testing.T, s *server) Model {
	t.Helper()
	model, err := OpenAI(OpenAIConfig{Key: canary, BaseURL: s.URL + "/v1/", Model: "local", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

var schema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","minimum":1}}}`)

func TestAnthropicRequestAndReply(t *testing.T) {
	// The process's own environment must not decide where the key goes.
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	s := serve(t, says(`{"n": 1}`, "end_turn", m{"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}))
	var first atomic.Int32
	got, err := anthropicAt(t, s).Send(t.Context(), Request{
		System: "sys", Prefix: "shared", Prompt: "own", Schema: schema, FirstByte: func() { first.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Reply{Text: `{"n": 1}`, Stop: StopEnd, Model: "claude-test-1", Usage: precedent.Usage{
		Requests: 1, InputTokens: 123, CachedTokens: 100, CacheWriteTokens: 20, OutputTokens: 7,
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if first.Load() != 1 {
		t.Errorf("FirstByte was called %d times", first.Load())
	}
	cached := m{"type": "ephemeral"}
	body := s.body(0)
	if d := cmp.Diff([]any{m{"type": "text", "text": "sys", "cache_control": cached}}, body["system"]); d != "" {
		t.Error("system:", d)
	}
	if d := cmp.Diff([]any{m{"role": "user", "content": []any{
		m{"type": "text", "text": "shared", "cache_control": cached}, m{"type": "text", "text": "own"},
	}}}, body["messages"]); d != "" {
		t.Error("messages:", d)
	}
	format := m{"format": m{"type": "json_schema", "schema": m{
		"type": "object", "additionalProperties": false, "required": []any{"n"}, "properties": m{"n": m{"type": "integer"}},
	}}}
	if d := cmp.Diff(format, body["output_config"]); d != "" {
		t.Error("output_config:", d)
	}
	if k := s.headers[0].Get("X-Api-Key"); k != canary || s.headers[0].Get("Authorization") != "" {
		t.Errorf("sent the key %q and authorization %q", k, s.headers[0].Get("Authorization"))
	}
}

func TestAnthropicWithoutStructuredOutput(t *testing.T) {
	refuse := status(400, "", `{"type":"error","error":{"type":"invalid_request_error","message":"output_config: not supported"}}`)
	s := serve(t, refuse, says("{}", "end_turn", m{"input_tokens": 1}))
	model := anthropicAt(t, s)
	for range 2 {
		if _, err := model.Send(t.Context(), Request{Prompt: "p", Schema: schema}); err != nil {
			t.Fatal(err)
		}
	}
	if s.requests() != 3 {
		t.Errorf("%d requests, want 3: refused, without schema, and again without", s.requests())
	}
	if _, ok := s.body(2)["output_config"]; ok {
		t.Error("the refused schema was sent again")
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]Stop{
		"end_turn": StopEnd, "max_tokens": StopLength, "model_context_window_exceeded": StopLength, "refusal": StopRefusal,
	} {
		reply, err := anthropicAt(t, serve(t, says("text", stop, m{"input_tokens": 1}))).Send(t.Context(), Request{Prompt: "p"})
		if err != nil || reply.Stop != want {
			t.Errorf("%s: stop %q, %v; want %q", stop, reply.Stop, err, want)
		}
	}
}

func TestToolLoop(t *testing.T) {
	tools := []Tool{{
		Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		Run: func(_ context.Context, args json.RawMessage) (string, error) {
			if strings.Contains(string(args), "missing") {
				return "", errors.New("no such file")
			}
			return "content", nil
		},
	}}
	t.Run("answers", func(t *testing.T) {
		s := serve(t, calls("t1", "read", `{"path":"a.go"}`), calls("t2", "rm", `{}`), calls("t3", "read", `{"path":"missing"}`),
			says("done", "end_turn", m{"input_tokens": 10}))
		reply, err := Loop(t.Context(), anthropicAt(t, s), Request{Prompt: "p", Tools: tools}, DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "done" || reply.Usage.Requests != 4 || reply.Usage.InputTokens != 40 {
			t.Errorf("reply %+v", reply)
		}
		last := s.body(3)["messages"].([]any)
		result := func(i int) m { return last[2*i+2].(m)["content"].([]any)[0].(m) }
		for i, want := range []struct {
			text  string
			error bool
		}{{"content", false}, {`error: there is no tool "rm"`, true}, {"error: no such file", true}} {
			r := result(i)
			text := r["content"].([]any)[0].(m)["text"]
			if text != want.text || r["is_error"] != want.error {
				t.Errorf("result %d: %v", i, r)
			}
		}
	})
	t.Run("never ends", func(t *testing.T) {
		s := serve(t, calls("t", "read", `{"path":"a.go"}`))
		reply, err := Loop(t.Context(), anthropicAt(t, s), Request{Prompt: "p", Tools: tools}, Limits{Calls: 5, Bytes: 1000})
		if err != nil || reply.Stop != StopLength {
			t.Errorf("stop %q, %v", reply.Stop, err)
		}
		if s.requests() != 7 { // five calls, one refused, one without tools
			t.Errorf("%d requests", s.requests())
		}
	})
}

// fakeTime is a clock that sleeping moves.
type fakeTime struct {
	now  time.Time
	naps []time.Duration
}

func (f *fakeTime) waiting() Waiting {
	return Waiting{
		Now: func() time.Time { return f.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			f.now, f.naps = f.now.Add(d), append(f.naps, d)
			return nil
		},
		Rand: func(n time.Duration) time.Duration { return n - 1 },
	}
}

func TestReliable(t *testing.T) {
	ok := says("fine", "end_turn", m{"input_tokens": 1})
	overloaded := status(529, "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	streamed := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		event(w, "error", m{"type": "error", "error": m{"type": "overloaded_error", "message": "Overloaded"}})
	}
	cutShort := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		start(w, m{"input_tokens": 1})
	}
	for _, test := range []struct {
		name     string
		handlers []http.HandlerFunc
		kind     Kind // of the error; empty for none
		requests int
		naps     []time.Duration
	}{
		{"Retry-After to the second", []http.HandlerFunc{status(429, "Retry-After: 17", "{}"), ok}, "", 2, []time.Duration{17 * time.Second}},
		{"overloaded three times", []http.HandlerFunc{overloaded, overloaded, overloaded, ok}, "", 4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"overloaded for ever", []http.HandlerFunc{overloaded}, KindOverloaded, 4, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
		{"overloaded within the stream", []http.HandlerFunc{streamed, ok}, "", 2, []time.Duration{2 * time.Second}},
		{"cut short", []http.HandlerFunc{cutShort, ok}, "", 2, []time.Duration{2 * time.Second}},
		{"a wait that is too long", []http.HandlerFunc{status(429, "Retry-After: 86400", "{}")}, KindRate, 1, nil},
		{"bad key", []http.HandlerFunc{status(401, "", `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)}, KindAuth, 1, nil},
		{"bad request", []http.HandlerFunc{status(400, "", `{}`)}, KindRequest, 1, nil},
		{"redirect", []http.HandlerFunc{status(302, "Location: http://127.0.0.1:9/steal", "")}, KindRequest, 1, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, clock := serve(t, test.handlers...), &fakeTime{now: time.Unix(1e9, 0)}
			_, err := Reliable(anthropicAt(t, s), clock.waiting()).Send(t.Context(), Request{Prompt: "p"})
			var e *Error
			if errors.As(err, &e) != (test.kind != "") || (e != nil && e.Kind != test.kind) {
				t.Errorf("error %v, want kind %q", err, test.kind)
			}
			if s.requests() != test.requests {
				t.Errorf("%d requests, want %d", s.requests(), test.requests)
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

func TestBreaker(t *testing.T) {
	t.Run("a refused key is not tried again", func(t *testing.T) {
		s, clock := serve(t, status(403, "", "{}")), &fakeTime{}
		model := Reliable(anthropicAt(t, s), clock.waiting())
		for range 3 {
			if _, err := model.Send(t.Context(), Request{Prompt: "p"}); err == nil {
				t.Fatal("no error")
			}
		}
		if s.requests() != 1 {
			t.Errorf("%d requests", s.requests())
		}
	})
	t.Run("a server that is down rests for a minute", func(t *testing.T) {
		s, clock := serve(t, status(500, "", "{}")), &fakeTime{now: time.Unix(1e9, 0)}
		model := Reliable(anthropicAt(t, s), clock.waiting())
		for range 5 {
			_, _ = model.Send(t.Context(), Request{Prompt: "p"})
		}
		if s.requests() != breakerFailures {
			t.Errorf("%d requests before the breaker opened, want %d", s.requests(), breakerFailures)
		}
		clock.now = clock.now.Add(breakerPause)
		_, _ = model.Send(t.Context(), Request{Prompt: "p"})
		if s.requests() != breakerFailures+1 {
			t.Errorf("%d requests after the pause", s.requests())
		}
	})
}

func TestIdleStreams(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	for name, handler := range map[string]http.HandlerFunc{
		"silent": func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
		"stops within": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			start(w, m{"input_tokens": 1})
			select {
			case <-release:
			case <-r.Context().Done():
			}
		},
		"drips": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			start(w, m{"input_tokens": 1})
			tick := time.NewTicker(time.Millisecond) // far below the idle time, and never a whole event
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					_, _ = io.WriteString(w, ":")
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, clock := serve(t, handler), &fakeTime{}
			model, err := Anthropic(AnthropicConfig{Key: canary, BaseURL: s.URL, Model: "x", Now: time.Now, FirstWait: 50 * time.Millisecond, Idle: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Reliable(model, clock.waiting()).Send(t.Context(), Request{Prompt: "p"})
			var e *Error
			if !errors.As(err, &e) || e.Kind != KindTimeout {
				t.Errorf("error %v", err)
			}
			if s.requests() != maxTimeoutTries {
				t.Errorf("%d requests", s.requests())
			}
		})
	}
}

func chat(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\n\n", c)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

func TestOpenAI(t *testing.T) {
	s := serve(t, chat(
		`{"model":"local-7b","choices":[{"delta":{"content":"he"}}]}`,
		`{"choices":[{"delta":{"content":"llo"},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":40}}}`))
	got, err := openAIAt(t, s).Send(t.Context(), Request{System: "sys", Prefix: "a", Prompt: "b", Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	want := Reply{Text: "hello", Stop: StopEnd, Model: "local-7b", Usage: precedent.Usage{Requests: 1, InputTokens: 50, CachedTokens: 40, OutputTokens: 2}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]any{m{"role": "system", "content": "sys"}, m{"role": "user", "content": "ab"}}, s.body(0)["messages"]); d != "" {
		t.Error(d)
	}
	if got := s.headers[0].Get("Authorization"); got != "Bearer "+canary {
		t.Errorf("authorization %q", got)
	}
}

func TestOpenAITools(t *testing.T) {
	s := serve(t, chat(
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"pa"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"th\":\"x\"}"}}]},"finish_reason":"tool_calls"}]}`,
	), chat(`{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`))
	var asked string
	tool := Tool{Name: "read", Schema: json.RawMessage(`{"type":"object"}`), Run: func(_ context.Context, a json.RawMessage) (string, error) {
		asked = string(a)
		return "text", nil
	}}
	reply, err := Loop(t.Context(), openAIAt(t, s), Request{Prompt: "p", Tools: []Tool{tool}}, DefaultLimits)
	if err != nil || reply.Text != "ok" || asked != `{"path":"x"}` {
		t.Fatalf("%+v, %v, asked %s", reply, err, asked)
	}
	if !reply.Estimated || reply.Usage.Requests != 2 {
		t.Errorf("usage %+v, estimated %v", reply.Usage, reply.Estimated)
	}
	last := s.body(1)["messages"].([]any)[2].(m)
	if d := cmp.Diff(m{"role": "tool", "tool_call_id": "c1", "content": "text"}, last); d != "" {
		t.Error(d)
	}
}

func TestOpenAIConcedes(t *testing.T) {
	ok := chat(`{"choices":[{"delta":{"content":"{}"},"finish_reason":"stop"}]}`)
	refuse := func(message string) http.HandlerFunc {
		b, _ := json.Marshal(m{"error": m{"message": message}})
		return status(400, "", string(b))
	}
	for _, test := range []struct {
		name     string
		handlers []http.HandlerFunc
		requests int
		absent   []string // fields that the last request must not have
		fails    bool
	}{
		{"schema, then JSON mode", []http.HandlerFunc{refuse("response_format json_schema unsupported"), refuse("response_format unsupported"), ok}, 3, []string{"response_format"}, false},
		{"tools", []http.HandlerFunc{refuse("local does not support tools"), ok}, 2, []string{"tools"}, false},
		{"token limit's new name", []http.HandlerFunc{refuse("Unsupported parameter: max_completion_tokens"), ok}, 2, []string{"max_completion_tokens"}, false},
		{"everything", []http.HandlerFunc{refuse("no")}, 5, []string{"response_format", "tools"}, true},
		{"too long", []http.HandlerFunc{refuse("This model's maximum context length is 8192 tokens")}, 1, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := serve(t, test.handlers...)
			model := openAIAt(t, s)
			r := Request{Prompt: "p", Schema: schema, Tools: []Tool{{Name: "read", Schema: json.RawMessage(`{}`)}}}
			if _, err := model.Send(t.Context(), r); (err != nil) != test.fails {
				t.Fatal(err)
			}
			if s.requests() != test.requests {
				t.Fatalf("%d requests, want %d", s.requests(), test.requests)
			}
			_, _ = model.Send(t.Context(), r) // what was refused stays left out
			for _, field := range test.absent {
				if _, ok := s.body(test.requests)[field]; ok {
					t.Errorf("%s was sent again", field)
				}
			}
		})
	}
}

func TestOpenAIOddServers(t *testing.T) {
	whole := status(200, "", `{"model":"x","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		stop    Stop
		kind    Kind
	}{
		{"ignores stream", whole, StopEnd, ""},
		{"length", chat(`{"choices":[{"delta":{"content":"{\"n\":"},"finish_reason":"length"}]}`), StopLength, ""},
		{"content filter", chat(`{"choices":[{"delta":{},"finish_reason":"content_filter"}]}`), StopRefusal, ""},
		{"refusal", chat(`{"choices":[{"delta":{"refusal":"I cannot"},"finish_reason":"stop"}]}`), StopRefusal, ""},
		{"error in the stream", chat(`{"error":{"message":"out of memory"}}`), "", KindServer},
		{"garbage in the stream", chat(`{"choices":`), "", KindServer},
		{"an HTML page", status(200, "", "<html>"), "", KindServer},
		{"no such path", status(404, "", "404 page not found"), "", KindRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			reply, err := openAIAt(t, serve(t, test.handler)).Send(t.Context(), Request{Prompt: "p"})
			var e *Error
			if errors.As(err, &e); (e == nil) != (test.kind == "") || (e != nil && e.Kind != test.kind) || reply.Stop != test.stop {
				t.Errorf("stop %q, error %v", reply.Stop, err)
			}
		})
	}
}

func TestFailover(t *testing.T) {
	down, up := serve(t, status(503, "", "{}")), serve(t, says("fine", "end_turn", m{"input_tokens": 1}))
	clock := &fakeTime{}
	model := Failover(Reliable(anthropicAt(t, down), clock.waiting()), Reliable(anthropicAt(t, up), clock.waiting()))
	reply, err := model.Send(t.Context(), Request{Prompt: "p"})
	if err != nil || reply.Text != "fine" {
		t.Fatalf("%+v, %v", reply, err)
	}
}

func TestCancelledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	for _, model := range []Model{anthropicAt(t, s), openAIAt(t, s)} {
		if _, err := Reliable(model, RealWaiting()).Send(ctx, Request{Prompt: "p"}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}

// TestKeyNeverShows looks for the key in everything that an error or a
// configuration can be turned into.
func TestKeyNeverShows(t *testing.T) {
	echo := func(w http.ResponseWriter, r *http.Request) { status(401, "", `{"error":{"message":"bad key"}}`)(w, r) }
	s := serve(t, echo)
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	for _, model := range []Model{anthropicAt(t, s), openAIAt(t, s)} {
		_, err := model.Send(t.Context(), Request{Prompt: "p"})
		fmt.Fprintf(&out, "%v %+v %#v", err, err, err)
		log.Error("failed", "err", err)
	}
	config := OpenAIConfig{Key: canary}
	fmt.Fprintf(&out, "%v %+v %#v %s %q %x", config, config, config, config.Key, config.Key, config.Key)
	b, err := json.Marshal(m{"key": config.Key})
	out.Write(b)
	log.Info("config", "key", config.Key)
	if err != nil || strings.Contains(out.String(), canary[3:]) || strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("%v; the key shows in %s", err, out.String())
	}
}

func TestPrices(t *testing.T) {
	prices := ListPrices()
	for model, want := range map[string]bool{"claude-sonnet-4-6": true, "anthropic/claude-sonnet-4-6": true, "gpt-4.1-mini-2025": true, "llama3:8b": false} {
		if _, ok := prices.Find(model); ok != want {
			t.Errorf("Find(%q) = %v", model, ok)
		}
	}
	mini, _ := prices.Find("gpt-4.1-mini")
	if whole, _ := prices.Find("gpt-4.1"); mini == whole {
		t.Error("the longest beginning must count")
	}
	got := Price{Input: 10, Cached: 1, CacheWrite: 12.5, Output: 50}.Cost(precedent.Usage{InputTokens: 1e6, CachedTokens: 5e5, CacheWriteTokens: 1e5, OutputTokens: 1e5})
	if want := 4.0 + 0.5 + 1.25 + 5; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("cost %v, want %v", got, want)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, base := range []string{"ftp://x", "not a url", "http://", "https://user:secret@host"} {
		if _, err := OpenAI(OpenAIConfig{BaseURL: base, Model: "m", Now: time.Now}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", base, err)
		}
	}
}
