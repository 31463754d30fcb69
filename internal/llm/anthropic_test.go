package llm

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestAnthropicRequestAndReply(t *testing.T) {
	// The process's own environment must not decide where the key goes.
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_API_KEY", "from-the-environment")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "from-the-environment")
	usage := precedent.Usage{Requests: 1, InputTokens: 123, CachedTokens: 100, CacheWriteTokens: 20, OutputTokens: 7}
	s := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: `{"n": 1}`, Model: "claude-test-1", Usage: &usage}))
	var first atomic.Int32
	got, err := anthropicAt(t, s.URL).Send(t.Context(), Request{
		System: "sys", Common: "all", Prefix: "shared",
		Prompt: "own", Schema: schema, FirstByte: func() { first.Add(1) },
	})
	needs.NoError(t, err)
	if d := cmp.Diff(Reply{Text: `{"n": 1}`, Stop: StopEnd, Model: "claude-test-1", Usage: usage}, got); d != "" {
		t.Error(d)
	}
	if first.Load() != 1 {
		t.Errorf("FirstByte was called %d times", first.Load())
	}
	sent := s.Requests()[0]
	if d := cmp.Diff([]llmtest.Block{{Text: "all", Breakpoint: true}, {Text: "shared", Breakpoint: true}, {Text: "own"}},
		sent.User); d != "" {
		t.Error("messages:", d)
	}
	b := body(t, s, 0)
	if d := cmp.Diff([]any{m{"type": "text", "text": "sys", "cache_control": m{"type": "ephemeral"}}},
		b["system"]); d != "" {
		t.Error("system:", d)
	}
	format := m{"format": m{"type": "json_schema", "schema": m{
		"type": "object", "additionalProperties": false,
		"required": []any{"n"}, "properties": m{"n": m{"type": "integer"}},
	}}}
	if d := cmp.Diff(format, b["output_config"]); d != "" {
		t.Error("output_config:", d)
	}
	if k := sent.Header.Get("X-Api-Key"); k != canary || sent.Header.Get("Authorization") != "" {
		t.Errorf("sent the key %q and authorization %q", k, sent.Header.Get("Authorization"))
	}
}

func TestAnthropicWithoutStructuredOutput(t *testing.T) {
	s := llmtest.Anthropic(t, llmtest.Script(failed(400, "output_config: not supported"), llmtest.Reply{Text: "{}"}))
	model := anthropicAt(t, s.URL)
	for range 2 {
		if _, err := model.Send(t.Context(), Request{Prompt: "p", Schema: schema}); err != nil {
			t.Fatal(err)
		}
	}
	formats := needs.Each(s.Requests(), func(r llmtest.Request) string { return r.Format })
	needs.Equal(t, []string{"json_schema", "", ""}, formats) // refused, without schema, and again without
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]Stop{
		"end_turn": StopEnd, "max_tokens": StopLength, "model_context_window_exceeded": StopLength, "refusal": StopRefusal,
		"tool_use": StopEnd, // without a call, a loop would go on for ever
	} {
		s := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: "text", Stop: stop}))
		reply, err := anthropicAt(t, s.URL).Send(t.Context(), Request{Prompt: "p"})
		if err != nil || reply.Stop != want {
			t.Errorf("%s: stop %q, %v; want %q", stop, reply.Stop, err, want)
		}
	}
}

// TestAnthropicStreams reads streams as the API's documentation has them ("Streaming messages"),
// which have what our own fake does not: unknown events, counts in several events, a call
// between texts, and a call without arguments.
func TestAnthropicStreams(t *testing.T) {
	const start = `event: message_start
data: {"type":"message_start","message":{"id":"msg_014p7gG3wDgGV9EUtLvnow3U","type":"message","role":"assistant",` +
		`"model":"claude-opus-4-8","stop_sequence":null,"usage":{"input_tokens":472,"cache_read_input_tokens":30,` +
		`"output_tokens":2},"content":[],"stop_reason":null}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Okay"}}

`
	const calls = `event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_01T1","name":"get_weather","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"location\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":" \"Paris\"}"}}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_01T2","name":"now","input":{}}}

event: something_new
data: {"type":"something_new","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89}}

`
	const stop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for name, test := range map[string]struct {
		stream string
		want   Reply
		kind   Kind
	}{
		"tools": {start + calls + stop, Reply{
			Text: "Okay", Stop: StopTools, Model: "claude-opus-4-8",
			Calls: []Call{{"toolu_01T1", "get_weather", []byte(`{"location": "Paris"}`)}, {"toolu_01T2", "now", []byte("{}")}},
			Usage: precedent.Usage{Requests: 1, InputTokens: 502, CachedTokens: 30, OutputTokens: 89},
		}, ""},
		"cut short": {start + calls, Reply{Model: "claude-opus-4-8", Usage: precedent.Usage{
			Requests: 1, InputTokens: 502, CachedTokens: 30, OutputTokens: 89,
		}}, KindServer},
	} {
		var sent http.Header
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sent = r.Header
			if r.URL.Path != "/proxy/v1/messages" {
				t.Errorf("%s: path %s", name, r.URL.Path)
			}
			_, _ = io.WriteString(w, test.stream)
		}))
		got, err := anthropicAt(t, s.URL+"/proxy/").Send(t.Context(), Request{Prompt: "p"})
		s.Close()
		if kindOf(err) != test.kind {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if v := sent.Get("Anthropic-Version"); v != "2023-06-01" {
			t.Errorf("%s: version %q", name, v)
		}
	}
}

// TestBadArgumentsAreNotSentBack: the arguments of a call that are no JSON do not break the next request.
func TestBadArgumentsAreNotSentBack(t *testing.T) {
	turn := Turn{
		Text: " \n", Calls: []Call{{"a", "read", []byte(`{"path": "x`)}},
		Results: []Result{{ID: "a", Text: "error", Error: true}},
	}
	for api, s := range both(t, llmtest.Reply{Text: "fine"}) {
		if _, err := s.Send(t.Context(), Request{Prompt: "p", Turns: []Turn{turn}}); err != nil {
			t.Fatal(api, err)
		}
		if got := s.Requests()[0].Turns[0]; got.Calls[0].Args != "{}" || strings.TrimSpace(got.Text) != "" {
			t.Errorf("%s: %+v", api, got)
		}
	}
}
