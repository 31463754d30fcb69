package llm

import (
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
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
		System: "sys", Common: "all", Prefix: "shared", Prompt: "own", Schema: schema, FirstByte: func() { first.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Reply{Text: `{"n": 1}`, Stop: StopEnd, Model: "claude-test-1", Usage: usage}, got); d != "" {
		t.Error(d)
	}
	if first.Load() != 1 {
		t.Errorf("FirstByte was called %d times", first.Load())
	}
	sent := s.Requests()[0]
	if d := cmp.Diff([]llmtest.Block{{Text: "all", Breakpoint: true}, {Text: "shared", Breakpoint: true}, {Text: "own"}}, sent.User); d != "" {
		t.Error("messages:", d)
	}
	b := body(t, s, 0)
	if d := cmp.Diff([]any{m{"type": "text", "text": "sys", "cache_control": m{"type": "ephemeral"}}}, b["system"]); d != "" {
		t.Error("system:", d)
	}
	format := m{"format": m{"type": "json_schema", "schema": m{
		"type": "object", "additionalProperties": false, "required": []any{"n"}, "properties": m{"n": m{"type": "integer"}},
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
	sent := s.Requests()
	if len(sent) != 3 {
		t.Fatalf("%d requests, want 3: refused, without schema, and again without", len(sent))
	}
	if sent[0].Format != "json_schema" || sent[1].Format != "" || sent[2].Format != "" {
		t.Errorf("formats %q, %q, %q", sent[0].Format, sent[1].Format, sent[2].Format)
	}
}

func TestStops(t *testing.T) {
	for stop, want := range map[string]Stop{
		"end_turn": StopEnd, "max_tokens": StopLength, "model_context_window_exceeded": StopLength, "refusal": StopRefusal,
	} {
		s := llmtest.Anthropic(t, llmtest.Script(llmtest.Reply{Text: "text", Stop: stop}))
		reply, err := anthropicAt(t, s.URL).Send(t.Context(), Request{Prompt: "p"})
		if err != nil || reply.Stop != want {
			t.Errorf("%s: stop %q, %v; want %q", stop, reply.Stop, err, want)
		}
	}
}
