package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

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

// TestTroubleOfServers: how a task ends if asking again does not help. What does help is in the tests of llm.
func TestTroubleOfServers(t *testing.T) {
	for _, test := range []struct {
		name     string
		reply    llmtest.Reply
		status   precedent.Status
		message  string // part of it
		requests int
	}{
		{"length", llmtest.Reply{Text: answer[:20], Stop: "max_tokens"}, "truncated", "out of room", 1},
		{
			"endless tools",
			llmtest.Reply{Calls: []llmtest.Call{{ID: "c", Name: "read_file", Args: `{"path":"a.go"}`}}},
			"truncated", "tool calls", 43,
		},
		{"401", llmtest.Reply{Status: 401, Message: "invalid x-api-key"}, "error", "check the key", 1},
		{
			"too long",
			llmtest.Reply{Status: 400, Message: "prompt is too long: 9000 tokens > 8192 maximum"},
			"truncated", "limit is 8192 tokens; set the context window: --context 8192", 1,
		},
		{
			"too long, no limit told",
			llmtest.Reply{Status: 400, Message: "Your input exceeds the context window of this model."},
			"truncated", "set the context window: --context N", 1,
		},
	} {
		for name, api := range apis {
			t.Run(name+" "+test.name, func(t *testing.T) {
				reply := test.reply
				if name == "openai" && reply.Stop == "max_tokens" {
					reply.Stop = "length"
				}
				server := api.serve(t, llmtest.Script(reply))
				e := New(Config{Model: llm.Reliable(api.model(t, server), llm.RealWaiting()), Files: oneFile(), Why: "test"})
				a, err := e.Run(t.Context(), finder())
				if err != nil || a.Status != test.status || !strings.Contains(a.Message, test.message) || a.JSON != nil {
					t.Errorf("status %s (%s), answer %q, %v", a.Status, a.Message, a.JSON, err)
				}
				if n := len(server.Requests()); n != test.requests {
					t.Errorf("%d requests, want %d", n, test.requests)
				}
			})
		}
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
	e := New(Config{Model: llm.Reliable(api.model(t, server), llm.RealWaiting()), Why: "test"})
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
