package llm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// reader is a tool that reads any file but those that are missing.
func reader(content string) []Tool {
	return []Tool{{
		Name: "read", Description: "reads",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`),
		Run: func(_ context.Context, args json.RawMessage) (string, error) {
			if strings.Contains(string(args), "missing") {
				return "", errors.New("no such file")
			}
			return content, nil
		},
	}}
}

func TestLoopAnswers(t *testing.T) {
	for api, s := range both(t, called("t1", "read", `{"path":"a.go"}`), called("t2", "rm", `{}`),
		called("t3", "read", `{"path":"missing"}`),
		llmtest.Reply{Text: "done", Usage: &precedent.Usage{InputTokens: 10}}) {
		reply, err := Loop(t.Context(), s.Model, Request{Prompt: "p", Tools: reader("content")}, DefaultLimits)
		needs.NoError(t, err)
		if reply.Text != "done" || reply.Usage.Requests != 4 || reply.Usage.InputTokens != 40 {
			t.Errorf("%s: reply %+v", api, reply)
		}
		var got []string
		for _, turn := range s.Requests()[3].Turns {
			got = append(got, turn.Results[0].Text)
			if api == "anthropic" && turn.Results[0].Error != strings.HasPrefix(turn.Results[0].Text, "error") {
				t.Errorf("result %+v", turn.Results[0])
			}
		}
		if d := cmp.Diff([]string{"content", `error: unknown tool "rm"`, "error: no such file"}, got); d != "" {
			t.Error(api, d)
		}
	}
}

// TestLoopEnds: a model that only ever calls is told to answer, then made to, then given up.
func TestLoopEnds(t *testing.T) {
	for api, s := range both(t, called("t", "read", `{"path":"a.go"}`)) {
		reply, err := Loop(t.Context(), s.Model, Request{Prompt: "p", Tools: reader("content")},
			Limits{Calls: 5, Bytes: 1000})
		if err != nil || reply.Stop != StopLength {
			t.Errorf("%s: stop %q, %v", api, reply.Stop, err)
		}
		sent := s.Requests()
		if len(sent) != 8 { // five calls, one refused, one after it, one that may not call
			t.Fatalf("%s: %d requests", api, len(sent))
		}
		for i, r := range sent {
			if want := i == 7; (r.ToolChoice == "none") != want || len(r.Tools) != 1 {
				t.Errorf("%s: request %d: tools %q, choice %q", api, i, r.Tools, r.ToolChoice)
			}
		}
		if last := sent[7].Turns; !strings.Contains(last[4].Results[0].Text, "content") ||
			!strings.Contains(last[5].Results[0].Text, "answer now") {
			t.Errorf("%s: turns %+v", api, last)
		}
	}
}

// TestLoopReadsItsTurnsFromTheCache: each turn's text is written to the cache
// once, and read from it by every later request.
func TestLoopReadsItsTurnsFromTheCache(t *testing.T) {
	const turns, resultTokens, prefixTokens, slack = 5, 1500, 4000, 100
	s := llmtest.Anthropic(t, func(r llmtest.Request) llmtest.Reply {
		if r.N < turns {
			return llmtest.Reply{Calls: []llmtest.Call{
				{ID: "a" + r.Model, Name: "read", Args: `{"path":"a.go"}`},
				{ID: "b" + r.Model, Name: "read", Args: `{"path":"missing"}`},
			}}
		}
		return llmtest.Reply{Text: "done"}
	})
	reply, err := Loop(t.Context(), anthropicAt(t, s.URL), Request{
		System: "sys", Common: "all", Prefix: strings.Repeat("diff", prefixTokens), Prompt: "own",
		Tools: reader(strings.Repeat("line", resultTokens)),
	}, DefaultLimits)
	if err != nil || reply.Text != "done" {
		t.Fatalf("%+v, %v", reply, err)
	}
	before := 0
	for i, e := range s.Exchanges() {
		u := e.Usage
		if plain := u.InputTokens - u.CachedTokens - u.CacheWriteTokens; (i > 0 && plain != 0) || plain > slack {
			t.Errorf("request %d pays %d tokens in full", i, plain)
		}
		wantWritten := resultTokens
		if i == 0 {
			wantWritten = prefixTokens
		}
		if u.CacheWriteTokens < wantWritten || u.CacheWriteTokens > wantWritten+slack {
			t.Errorf("request %d writes %d tokens, want about %d", i, u.CacheWriteTokens, wantWritten)
		}
		if u.CachedTokens != before {
			t.Errorf("request %d reads %d tokens, want all %d that the one before has written or read", i, u.CachedTokens,
				before)
		}
		before = u.CachedTokens + u.CacheWriteTokens
	}
}

// TestLoopTakesBackWhatDoesNotFit: results that exceed the window end the reading, not the task.
func TestLoopTakesBackWhatDoesNotFit(t *testing.T) {
	for api, s := range both(t, called("t1", "read", `{"path":"a.go"}`), called("t2", "read", `{"path":"b.go"}`),
		failed(400, "prompt is too long: 8200 tokens > 8192 maximum"), llmtest.Reply{Text: "done"}) {
		reply, err := Loop(t.Context(), s.Model, Request{Prompt: "p", Tools: reader("content")}, DefaultLimits)
		if err != nil || reply.Text != "done" || reply.Usage.Requests != 4 {
			t.Errorf("%s: %+v, %v", api, reply, err)
		}
		last := s.Requests()[3]
		if len(last.Turns) != 2 || last.Turns[0].Results[0].Text != "content" ||
			!strings.Contains(last.Turns[1].Results[0].Text, "does not fit") || last.ToolChoice != "none" {
			t.Errorf("%s: turns %+v, choice %q", api, last.Turns, last.ToolChoice)
		}
	}
	for api, s := range both(t, called("t1", "read", `{"path":"a.go"}`),
		failed(400, "prompt is too long: 8200 tokens > 8192 maximum")) {
		_, err := Loop(t.Context(), s.Model, Request{Prompt: "p", Schema: schema, Tools: reader("content")}, DefaultLimits)
		if kindOf(err) != KindContext || len(s.Requests()) != 3 {
			t.Errorf("%s: %v after %d requests", api, err, len(s.Requests()))
		}
	}
}
