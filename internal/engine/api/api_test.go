package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/llm"
)

// TestConformance plays the suite through a server that speaks Anthropic's API.
func TestConformance(t *testing.T) {
	enginetest.Run(t, func(t *testing.T, s enginetest.Script) engine.Engine {
		return New(Config{Model: scripted(t, s), Why: "test"})
	})
}

// scripted is a model whose server plays the script.
func scripted(t *testing.T, s enginetest.Script) llm.Model {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { play(t, s, w, r) }))
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	model, err := llm.Anthropic(llm.AnthropicConfig{Key: "k", BaseURL: server.URL, Model: "test-model", Transport: transport, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return model
}

type object = map[string]any

func play(t *testing.T, s enginetest.Script, w http.ResponseWriter, r *http.Request) {
	var body struct {
		System   []struct{ Text string }
		Messages []struct {
			Content []struct{ Text string }
		}
	}
	raw, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		if r.Context().Err() == nil {
			t.Errorf("read request: %v", err)
		}
		return
	}
	request := engine.Request{Schema: engine.RequestSchema, System: body.System[0].Text}
	for _, c := range body.Messages[0].Content {
		request.Prompt += c.Text
	}
	reply, err := s.Next(request)
	if err != nil {
		t.Error(err)
	}
	if reply.Exit != 0 {
		http.Error(w, `{"type":"error","error":{"type":"api_error","message":"out of luck"}}`, http.StatusInternalServerError)
		return
	}
	if reply.Hang {
		<-r.Context().Done()
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, data object) error {
		data["type"] = kind
		b, err := json.Marshal(data)
		if err == nil {
			_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
		}
		return err
	}
	var u precedent.Usage
	_ = json.Unmarshal(reply.Usage, &u)
	_ = send("message_start", object{"message": object{"id": "m", "type": "message", "role": "assistant", "model": "test-model", "content": []any{}, "usage": object{
		"input_tokens": u.InputTokens - u.CachedTokens - u.CacheWriteTokens, "cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
	}}})
	_ = send("content_block_start", object{"index": 0, "content_block": object{"type": "text", "text": ""}})
	text := reply.Text
	if len(reply.Answer) > 0 {
		text = string(reply.Answer)
	}
	for {
		err := send("content_block_delta", object{"index": 0, "delta": object{"type": "text_delta", "text": text + strings.Repeat("x", 1<<20)[:flood(reply)]}})
		if err != nil || !reply.Flood {
			break
		}
	}
	_ = send("content_block_stop", object{"index": 0})
	stop := "end_turn"
	if reply.Refused {
		stop = "refusal"
	}
	_ = send("message_delta", object{"delta": object{"stop_reason": stop}, "usage": object{"output_tokens": u.OutputTokens}})
	_ = send("message_stop", object{})
}

func flood(r enginetest.Reply) int {
	if r.Flood {
		return 1 << 20
	}
	return 0
}

// fixed is a model that always says the same.
type fixed struct {
	name  string
	reply llm.Reply
	err   error
	sent  atomic.Int32
	last  atomic.Pointer[llm.Request]
}

func (f *fixed) Name() string { return f.name }
func (f *fixed) Host() string { return "models.example" }
func (f *fixed) Send(_ context.Context, r llm.Request) (llm.Reply, error) {
	f.sent.Add(1)
	f.last.Store(&r)
	return f.reply, f.err
}

func task() engine.Task {
	return engine.Task{Role: engine.Finder, Name: "bugs", System: "s", Prefix: "shared ", Prompt: "own", Schema: json.RawMessage(`{"type":"object"}`)}
}

func TestCostAndPrefix(t *testing.T) {
	model := &fixed{name: "priced-1", reply: llm.Reply{Text: "{}", Stop: llm.StopEnd, Usage: precedent.Usage{Requests: 1, InputTokens: 1e6, OutputTokens: 1e6}}}
	e := New(Config{Model: model, Prices: llm.Prices{"priced": {Input: 3, Output: 15}}, Why: "a key is set"})
	a, err := e.Run(t.Context(), task())
	if err != nil || a.CostUSD != 18 {
		t.Errorf("cost %v, %v", a.CostUSD, err)
	}
	if r := model.last.Load(); r.Prefix != "shared " || r.Prompt != "own" || r.System != "s" {
		t.Errorf("request %+v", r)
	}
	if line := e.Info().Line; line != "priced-1 (a key is set) → models.example" {
		t.Errorf("line %q", line)
	}
	if line := New(Config{Model: &fixed{name: "other"}, Why: "w"}).Info().Line; !strings.Contains(line, "price unknown") {
		t.Errorf("line %q", line)
	}
}

func TestBudgetStopsRequests(t *testing.T) {
	model := &fixed{name: "m", reply: llm.Reply{Text: "{}", Stop: llm.StopEnd, Usage: precedent.Usage{Requests: 1, InputTokens: 900, OutputTokens: 100}}}
	e := New(Config{Model: model, Budget: &engine.Budget{Tokens: 3000}, Why: "w"})
	var got []precedent.Status
	for range 4 {
		a, err := e.Run(t.Context(), task())
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, a.Status)
	}
	// Each takes 1,000 tokens and is expected to take about 1,500.
	want := []precedent.Status{"ok", "ok", "over-budget", "over-budget"}
	if d := cmp.Diff(want, got); d != "" || model.sent.Load() != 2 {
		t.Errorf("%d requests, statuses %s", model.sent.Load(), d)
	}
}

func TestTroubleBecomesStatus(t *testing.T) {
	for kind, want := range map[llm.Kind]precedent.Status{
		llm.KindAuth: "error", llm.KindRate: "error", llm.KindTimeout: "timeout", llm.KindTooLarge: "truncated", llm.KindOpen: "error",
	} {
		a, err := New(Config{Model: &fixed{name: "m", err: &llm.Error{Kind: kind, Host: "h", Message: "m"}}}).Run(t.Context(), task())
		if err != nil || a.Status != want {
			t.Errorf("%s: status %s, %v", kind, a.Status, err)
		}
	}
	for stop, want := range map[llm.Stop]precedent.Status{llm.StopLength: "truncated", llm.StopRefusal: "refused"} {
		a, err := New(Config{Model: &fixed{name: "m", reply: llm.Reply{Stop: stop, Text: "{}"}}}).Run(t.Context(), task())
		if err != nil || a.Status != want {
			t.Errorf("%s: status %s, %v", stop, a.Status, err)
		}
	}
}

func TestTools(t *testing.T) {
	content := map[string]string{
		"a.go":           "package a\n\nfunc A() {}\n",
		"lib/b.go":       "package lib\n// \u202ehidden\x1b[31m\nfunc B() {}\n",
		"lib/deep/c.txt": "text\n",
		"data.bin":       "\x00\x01",
		"long.txt":       strings.Repeat("line\n", 5000),
	}
	files := Files{
		List: func(context.Context) ([]string, error) {
			return []string{"a.go", "data.bin", "lib/b.go", "lib/deep/c.txt", "long.txt"}, nil
		},
		Read: func(_ context.Context, p string, _ int64) ([]byte, error) {
			if c, ok := content[p]; ok {
				return []byte(c), nil
			}
			return nil, errors.New("secret reason /home/me")
		},
		History: func(_ context.Context, p string) (string, error) { return "2026-01-05 dana first\n", nil },
	}
	call := func(name, args string) (string, error) {
		for _, tool := range files.tools() {
			if tool.Name == name {
				return tool.Run(t.Context(), json.RawMessage(args))
			}
		}
		t.Fatalf("no tool %s", name)
		return "", nil
	}
	for _, test := range []struct{ tool, args, want string }{
		{"list_files", `{"glob":"**"}`, "a.go\ndata.bin\nlib/b.go\nlib/deep/c.txt\nlong.txt\n"},
		{"list_files", `{"glob":"*.go"}`, "a.go\n"},
		{"list_files", `{"glob":"**/*.go"}`, "a.go\nlib/b.go\n"},
		{"list_files", `{"glob":"nothing"}`, "no file matches"},
		{"read_file", `{"path":"a.go","start":3,"end":9}`, "     3\tfunc A() {}\n"},
		{"read_file", `{"path":"./lib/b.go","start":2,"end":2}`, "     2\t// <U+202E>hidden<U+001B>[31m\n"},
		{"search", `{"pattern":"^func","glob":"**/*.go"}`, "a.go:3: func A() {}\nlib/b.go:3: func B() {}\n"},
		{"search", `{"pattern":"absent"}`, "no line matches\n"},
		{"file_history", `{"path":"a.go"}`, "2026-01-05 dana first\n"},
	} {
		if got, err := call(test.tool, test.args); err != nil || got != test.want {
			t.Errorf("%s %s: %q, %v", test.tool, test.args, got, err)
		}
	}
	if got, _ := call("read_file", `{"path":"long.txt"}`); strings.Count(got, "\n") != maxReadLines+1 || !strings.Contains(got, "the file has 5000") {
		t.Errorf("a long file: %d lines", strings.Count(got, "\n"))
	}
	if got, _ := call("search", `{"pattern":"line"}`); strings.Count(got, "\n") != maxMatches+1 {
		t.Errorf("many matches: %d lines", strings.Count(got, "\n"))
	}
	for _, args := range []string{
		`{"path":"/etc/passwd"}`, `{"path":"../x"}`, `{"path":"lib/../../x"}`, `{"path":""}`, `{"path":"data.bin"}`, `{"path":"a\u0000b"}`, `{"path":"absent"}`, `{"path":7}`, `[]`,
	} {
		if got, err := call("read_file", args); err == nil || strings.Contains(err.Error(), "/home/me") {
			t.Errorf("read_file %s: %q, %v", args, got, err)
		}
	}
	for _, pattern := range []string{"(", strings.Repeat("a", maxPattern+1)} {
		args, _ := json.Marshal(object{"pattern": pattern})
		if _, err := call("search", string(args)); err == nil {
			t.Errorf("the pattern %.20q was taken", pattern)
		}
	}
	if (Files{}).tools() != nil {
		t.Error("tools without files")
	}
}
