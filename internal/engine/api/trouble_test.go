package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

const answer = `{"findings":[{"path":"a.go"}],"summary":"one"}`

func finder() engine.Task {
	return engine.Task{
		Role: engine.Finder, Name: "bugs", System: "You review code.", Common: "The guide. ", Prefix: "The diff. ",
		Prompt: "Find bugs.",
		Schema: json.RawMessage(`{"type":"object","required":["findings"],"properties":{"summary":{"type":"string"},
			"findings":{"type":"array","items":{"type":"object","required":["path"],"properties":{"path":{"type":"string"}}}}}}`),
	}
}

func oneFile() Files {
	return Files{
		List: func(context.Context, precedent.Side) ([]string, error) { return []string{"a.go"}, nil },
		Read: func(context.Context, precedent.Side, string, int64) ([]byte, error) {
			return []byte("package a\n"), nil
		},
	}
}

// naps is how long was waited. The random part
// of a wait is as long as it can be, in whole seconds.
type naps struct {
	slept []time.Duration
	total time.Duration
}

func (n *naps) waiting() llm.Waiting {
	return llm.Waiting{
		Now: func() time.Time { return time.Unix(1_700_000_000, 0).Add(n.total) },
		Sleep: func(_ context.Context, d time.Duration) error {
			n.total += d
			n.slept = append(n.slept, d.Round(time.Second))
			return nil
		},
		Rand: func(d time.Duration) time.Duration { return d },
	}
}

// TestTroubleOfServers is what can go wrong on the far side, and how the task ends.
func TestTroubleOfServers(t *testing.T) {
	good, broken := llmtest.Reply{Text: answer}, llmtest.Reply{Text: answer, Cut: 250}
	torn := llmtest.Reply{Text: answer, Cut: 250, Torn: true}
	status := func(code int, message string) llmtest.Reply { return llmtest.Reply{Status: code, Message: message} }
	backoff := []time.Duration{
		2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
	}
	for _, test := range []struct {
		name     string
		replies  []llmtest.Reply
		status   precedent.Status
		message  string // part of it
		requests int
		naps     []time.Duration
	}{
		{
			"429",
			[]llmtest.Reply{{Status: 429, Header: http.Header{"Retry-After": {"17"}}}, good},
			"ok", "", 2,
			[]time.Duration{17 * time.Second},
		},
		{"529 three times", slices.Concat(slices.Repeat([]llmtest.Reply{status(529, "Overloaded")}, 3),
			[]llmtest.Reply{good}), "ok", "", 4, backoff[:3]},
		{"529 for ever", []llmtest.Reply{status(529, "Overloaded")}, "error", "529: Overloaded", 8, backoff},
		{"cut stream", []llmtest.Reply{broken, good}, "ok", "", 2, backoff[:1]},
		{"torn stream", []llmtest.Reply{torn, good}, "ok", "", 2, backoff[:1]},
		{"torn streams", []llmtest.Reply{torn}, "error", "cut short", 4, backoff[:3]},
		{"broken stream", []llmtest.Reply{{Broken: "overloaded_error"}, good}, "ok", "", 2, backoff[:1]},
		{"drip", []llmtest.Reply{{Drip: true}}, "timeout", "timed out", 2, backoff[:1]},
		{"drip, then an answer", []llmtest.Reply{{Drip: true}, good}, "ok", "", 2, backoff[:1]},
		{"refusal", []llmtest.Reply{{Refusal: "I cannot."}}, "refused", "refused", 1, nil},
		{"length", []llmtest.Reply{{Text: answer[:20], Stop: "max_tokens"}}, "truncated", "out of room", 1, nil},
		{
			"endless tools",
			[]llmtest.Reply{{Calls: []llmtest.Call{{ID: "c", Name: "read_file", Args: `{"path":"a.go"}`}}}},
			"truncated", "tool calls", 43, nil,
		},
		{"wrong schema", []llmtest.Reply{{Text: `{"findings":[{"line":1}]}`}, good}, "ok", "", 2, nil},
		{"wrong schema for ever", []llmtest.Reply{{Text: `{"findings":[{"line":1}]}`}}, "malformed", "path", 3, nil},
		{"nothing", []llmtest.Reply{{}}, "malformed", "no usable answer", 3, nil},
		{
			"prose and trailing commas",
			[]llmtest.Reply{{Text: "Here:\n```json\n{\"findings\":[{\"path\":\"a.go\",},],\"summary\":\"one\",}\n```\nDone."}},
			"ok", "", 1, nil,
		},
		{"401", []llmtest.Reply{status(401, "invalid x-api-key")}, "error", "check the key", 1, nil},
		{
			"too long",
			[]llmtest.Reply{status(400, "prompt is too long: 9000 tokens > 8192 maximum")},
			"truncated",
			"limit is 8192 tokens; set the context window: --context 8192", 1, nil,
		},
		{
			"too long, no limit told",
			[]llmtest.Reply{status(400, "Your input exceeds the context window of this model.")},
			"truncated",
			"set the context window: --context N", 1, nil,
		},
	} {
		for name, api := range apis {
			t.Run(name+" "+test.name, func(t *testing.T) {
				t.Parallel() // most of the time of those that drip is waiting
				replies := slices.Clone(test.replies)
				if name == "openai" && replies[0].Stop == "max_tokens" {
					replies[0].Stop = "length"
				}
				var idle time.Duration
				if replies[0].Drip {
					idle = time.Second // far above what an answer takes from one event to the next
				}
				server, clock := api.serve(t, llmtest.Script(replies...)), &naps{}
				e := New(Config{Model: llm.Reliable(api.model(t, server, idle), clock.waiting()), Files: oneFile(), Why: "test"})
				a, err := e.Run(t.Context(), finder())
				if err != nil || a.Status != test.status || !strings.Contains(a.Message, test.message) {
					t.Errorf("status %s (%s), %v", a.Status, a.Message, err)
				}
				if (a.Status == precedent.StatusOK) != (string(a.JSON) != "") {
					t.Errorf("status %s with the answer %q", a.Status, a.JSON)
				}
				if n := len(server.Requests()); n != test.requests {
					t.Errorf("%d requests, want %d", n, test.requests)
				}
				if !slices.Equal(clock.slept, test.naps) {
					t.Errorf("waited %v, want %v", clock.slept, test.naps)
				}
			})
		}
	}
}

// TestPoorServers: what a server cannot do is left out, and the answer is as good.
func TestPoorServers(t *testing.T) {
	refuse := func(message string) llmtest.Reply { return llmtest.Reply{Status: 400, Message: message} }
	for name, test := range map[string]struct {
		api     string
		handler llmtest.Handler
	}{
		"no tools": {"openai", func(r llmtest.Request) llmtest.Reply {
			if len(r.Tools) > 0 {
				return refuse("registry.ollama.ai/library/x:7b does not support tools")
			}
			return llmtest.Reply{Text: answer}
		}},
		"no schema": {"openai", func(r llmtest.Request) llmtest.Reply {
			if r.Format == "json_schema" {
				return refuse("This response_format type is unavailable now")
			}
			return llmtest.Reply{Text: answer}
		}},
		"no JSON mode, no streams, no usage": {"openai", func(r llmtest.Request) llmtest.Reply {
			if r.Format != "" {
				return refuse("unknown field response_format")
			}
			return llmtest.Reply{Text: "Sure! " + answer, Whole: true, Uncount: true}
		}},
		"nothing at all, and it does not say what": {"openai", func(r llmtest.Request) llmtest.Reply {
			if r.Format != "" || len(r.Tools) > 0 {
				return refuse("Bad Request")
			}
			return llmtest.Reply{Text: answer}
		}},
		"no structured output": {"anthropic", func(r llmtest.Request) llmtest.Reply {
			if r.Format != "" {
				return refuse("output_config: Extra inputs are not permitted")
			}
			return llmtest.Reply{Text: answer}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			api := apis[test.api]
			server := api.serve(t, test.handler)
			e := New(Config{Model: api.model(t, server, 0), Files: oneFile(), Why: "test"})
			for i := range 2 {
				before := len(server.Requests())
				a, err := e.Run(t.Context(), finder())
				if err != nil || a.Status != precedent.StatusOK || !strings.Contains(string(a.JSON), "a.go") ||
					a.Usage.InputTokens == 0 && test.api == "openai" && strings.Contains(name, "usage") {
					t.Errorf("%s (%s), %s, %v, usage %+v", a.Status, a.Message, a.JSON, err, a.Usage)
				}
				if n := len(server.Requests()) - before; i == 1 && n != 1 {
					t.Errorf("%d requests for the second task: what was refused is forgotten", n)
				}
			}
		})
	}
}

// TestSmallContext: a server that counts prompt and reply against 8,192 tokens,
// as vLLM does, answers what fits and says so of the rest.
func TestSmallContext(t *testing.T) {
	const window, charsPerToken = 8192, 4
	api := apis["openai"]
	server := api.serve(t, func(r llmtest.Request) llmtest.Reply {
		in := len(r.Body) / charsPerToken
		if in+r.MaxTokens > window {
			return llmtest.Reply{
				Status: 400,
				Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens (%d in "+
					"the messages, %d in the completion).", window, in+r.MaxTokens, in, r.MaxTokens),
			}
		}
		return llmtest.Reply{Text: answer}
	})
	e := New(Config{Model: llm.Reliable(api.model(t, server, 0), (&naps{}).waiting()), Why: "test"})
	task := finder()
	for _, test := range []struct {
		tokens   int
		status   precedent.Status
		requests int
	}{
		{4_000, precedent.StatusOK, 2}, // the second without a bound of the reply
		{7_000, precedent.StatusOK, 1},
		{9_000, precedent.StatusTruncated, 1},
		{5_000, precedent.StatusOK, 1},
	} {
		before := len(server.Requests())
		task.Prefix = strings.Repeat("diff", test.tokens)
		a, err := e.Run(t.Context(), task)
		if err != nil || a.Status != test.status || (a.Status != precedent.StatusOK) != strings.Contains(a.Message,
			"--context 8192") {
			t.Errorf("%d tokens: %s (%s), %v", test.tokens, a.Status, a.Message, err)
		}
		if n := len(server.Requests()) - before; n != test.requests {
			t.Errorf("%d tokens: %d requests, want %d", test.tokens, n, test.requests)
		}
	}
}
