package llm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestOpenAI(t *testing.T) {
	usage := precedent.Usage{Requests: 1, InputTokens: 50, CachedTokens: 40, OutputTokens: 2}
	for _, whole := range []bool{false, true} {
		s := llmtest.OpenAI(t, llmtest.Script(llmtest.Reply{Text: "hello", Model: "local-7b", Usage: &usage, Whole: whole}))
		got, err := openAIAt(t, s.URL).Send(t.Context(), Request{
			System: "sys", Common: "a", Prefix: "b", Prompt: "c", Schema: schema,
		})
		needs.NoError(t, err)
		if d := cmp.Diff(Reply{Text: "hello", Stop: StopEnd, Model: "local-7b", Usage: usage}, got); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]any{m{"role": "system", "content": "sys"}, m{"role": "user", "content": "abc"}},
			body(t, s, 0)["messages"]); d != "" {
			t.Error(d)
		}
		if got := s.Requests()[0].Header.Get("Authorization"); got != "Bearer "+canary {
			t.Errorf("authorization %q", got)
		}
	}
}

func TestOpenAITools(t *testing.T) {
	two := llmtest.Reply{
		Uncount: true, Reasoning: "I should read x.",
		Calls: []llmtest.Call{
			{ID: "c1", Name: "read", Args: `{"path":"x"}`},
			{ID: "c2", Name: "read", Args: `{"path":"missing"}`},
		},
	}
	for _, whole := range []bool{false, true} {
		two.Whole = whole
		s := llmtest.OpenAI(t, llmtest.Script(two, llmtest.Reply{Text: "ok", Uncount: true}))
		reply, err := Loop(t.Context(), openAIAt(t, s.URL), Request{Prompt: "p", Tools: reader("text")}, DefaultLimits)
		if err != nil || reply.Text != "ok" {
			t.Fatalf("%+v, %v", reply, err)
		}
		if reply.Usage.InputTokens == 0 || reply.Usage.Requests != 2 {
			t.Errorf("usage %+v", reply.Usage)
		}
		want := []llmtest.Turn{{
			Reasoning: two.Reasoning, Calls: two.Calls,
			Results: []llmtest.Result{{ID: "c1", Text: "text"}, {ID: "c2", Text: "error: no such file"}},
		}}
		if d := cmp.Diff(want, s.Requests()[1].Turns); d != "" {
			t.Error(d)
		}
	}
}

// TestUsageOfOddServers: counts that no request can have are no counts.
func TestUsageOfOddServers(t *testing.T) {
	for _, u := range []precedent.Usage{
		{}, {InputTokens: -1}, {InputTokens: 5, OutputTokens: -1}, {InputTokens: 1e15}, {InputTokens: 9, CachedTokens: 10},
	} {
		for api, s := range both(t, llmtest.Reply{Text: "an answer", Usage: &u}) {
			reply, err := s.Send(t.Context(), Request{Prompt: "a prompt of some words"})
			if got := reply.Usage; err != nil || got.InputTokens < 6 || got.InputTokens > 99 || got.OutputTokens < 1 {
				t.Errorf("%s: %+v: usage %+v, %v", api, u, got, err)
			}
		}
	}
}

// TestOpenAICallsOfOddServers: calls that come with one index for all, or with gaps, or without ids.
func TestOpenAICallsOfOddServers(t *testing.T) {
	piece := func(index int, id, name, args string) chatCall {
		c := chatCall{Index: index, ID: id}
		c.Function.Name, c.Function.Arguments = name, args
		return c
	}
	for name, test := range map[string]struct {
		pieces []chatCall
		want   string
	}{
		"one index":  {[]chatCall{piece(0, "a", "read", "{}"), piece(0, "b", "list", "{}")}, "[{a read {}} {b list {}}]"},
		"its pieces": {[]chatCall{piece(0, "a", "r", "{"), piece(0, "a", "", "}"), piece(0, "", "", " ")}, "[{a r {} }]"},
		"gaps":       {[]chatCall{piece(3, "a", "read", "{}"), piece(-1, "b", "list", "{}")}, "[{a read {}} {b list {}}]"},
		"no ids": {
			[]chatCall{piece(0, "", "read", "{}"), piece(1, "", "list", "")}, "[{call_0_0 read {}} {call_0_1 list {}}]",
		},
	} {
		g := gathered{}
		for _, p := range test.pieces {
			g.call(p)
		}
		if got := fmt.Sprintf("%s", g.finished(Request{}).Calls); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	var many gathered
	for i := range 10_000 {
		many.call(piece(i, "", "read", "{}"))
	}
	if len(many.Calls) != mostCalls {
		t.Errorf("%d calls were kept", len(many.Calls))
	}
}

func TestOpenAIConcedes(t *testing.T) {
	r := Request{Prompt: "p", Schema: schema, Tools: reader("")}
	for _, test := range []struct {
		name            string
		status          int
		refusals        string // a line each
		absent, present string // fields that later requests must not have, and must have
	}{
		{
			"schema, then JSON mode", 400, "response_format json_schema unsupported\nresponse_format unsupported",
			"response_format", "tools",
		},
		{"tools (Ollama)", 400, "registry.ollama.ai/library/x:7b does not support tools", "tools", "response_format"},
		{"tools (llama.cpp)", 500, "tools param requires --jinja flag", "tools", "response_format"},
		{"new name", 400, "Unsupported parameter: max_completion_tokens", "max_completion_tokens", "max_tokens"},
		{
			"token limit beyond the window (vLLM)", 400, "'max_tokens' or 'max_completion_tokens' is too large: 16000. " +
				"This model's maximum context length is 8192 tokens and your request has 900 input tokens",
			"max_tokens max_completion_tokens", "tools",
		},
		{"stream options", 422, "extra inputs are not permitted: stream_options", "stream_options", "tools"},
	} {
		t.Run(test.name, func(t *testing.T) {
			replies := needs.Each(strings.Split(test.refusals, "\n"),
				func(why string) llmtest.Reply { return failed(test.status, why) })
			s := llmtest.OpenAI(t, llmtest.Script(append(replies, llmtest.Reply{Text: "{}"})...))
			model := openAIAt(t, s.URL)
			for range 2 { // what was refused stays left out
				if _, err := model.Send(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			sent := s.Requests()
			if len(sent) != len(replies)+2 {
				t.Fatalf("%d requests, want one after each refusal, and the second", len(sent))
			}
			last := body(t, s, len(sent)-1)
			for field := range strings.FieldsSeq(test.absent) {
				if _, ok := last[field]; ok {
					t.Errorf("%s was sent again", field)
				}
			}
			for field := range strings.FieldsSeq(test.present) {
				if _, ok := last[field]; !ok {
					t.Errorf("%s was left out for no reason", field)
				}
			}
		})
	}
	s := llmtest.OpenAI(t, llmtest.Script(append(slices.Repeat([]llmtest.Reply{failed(400, "content_filter")}, 5),
		llmtest.Reply{Text: "{}"})...))
	model := openAIAt(t, s.URL)
	_, refused := model.Send(t.Context(), r)
	if _, err := model.Send(t.Context(), r); err != nil || refused == nil {
		t.Errorf("%v, then %v", refused, err)
	}
	if next := body(t, s, 5); next["response_format"] == nil || next["tools"] == nil {
		t.Error("a request that is refused for its content takes features from the next one")
	}
	for _, test := range []struct {
		reply    llmtest.Reply
		requests int
	}{
		{failed(400, "no"), 5}, // without one feature after the other
		{failed(400, "This model's maximum context length is 8192 tokens, your prompt has 9000"), 1},
	} {
		s := llmtest.OpenAI(t, llmtest.Script(test.reply))
		if _, err := openAIAt(t, s.URL).Send(t.Context(), r); err == nil || len(s.Requests()) != test.requests {
			t.Errorf("%s: %v after %d requests, want %d", test.reply.Message, err, len(s.Requests()), test.requests)
		}
	}
}

func TestOpenAIOddServers(t *testing.T) {
	for _, test := range []struct {
		name  string
		reply llmtest.Reply
		stop  Stop
		kind  Kind
	}{
		{"length", llmtest.Reply{Text: `{"n":`, Stop: "length"}, StopLength, ""},
		{"content filter", llmtest.Reply{Stop: "content_filter"}, StopRefusal, ""},
		{"refusal", llmtest.Reply{Refusal: "I cannot"}, StopRefusal, ""},
		{"too long, in the stream", llmtest.Reply{Broken: "the request exceeds the available context size"}, "", KindContext},
		{
			"an indented answer",
			llmtest.Reply{Body: "{\n  \"choices\": [{\"message\": {\"content\": \"hi\"}, \"finish_reason\": \"stop\"}]\n}\n"},
			StopEnd, "",
		},
		{"an error as an answer", llmtest.Reply{Body: `{"error":{"message":"no such model"}}`}, "", KindServer},
		{"garbage in the stream", llmtest.Reply{Body: "data: {\"choices\":\n\ndata: [DONE]\n\n"}, "", KindServer},
		{"nothing", llmtest.Reply{Body: "\n"}, "", KindServer},
		{"an HTML page", llmtest.Reply{Status: 502, Body: "<html>"}, "", KindServer},
		{"no such path", llmtest.Reply{Status: 404, Body: "404 page not found"}, "", KindRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := llmtest.OpenAI(t, llmtest.Script(test.reply))
			reply, err := openAIAt(t, s.URL).Send(t.Context(), Request{Prompt: "p"})
			if kindOf(err) != test.kind || reply.Stop != test.stop {
				t.Errorf("stop %q, error %v", reply.Stop, err)
			}
		})
	}
}
