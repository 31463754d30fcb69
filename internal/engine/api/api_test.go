package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestConformance plays the suite through a server of each API.
func TestConformance(t *testing.T) {
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			enginetest.Run(t, func(t *testing.T, s enginetest.Script) engine.Engine {
				server := api.serve(t, func(r llmtest.Request) llmtest.Reply { return play(t, s, r) })
				return New(Config{Model: api.model(t, server), Why: "test"})
			})
		})
	}
}

// api is a kind of server, and the client that speaks to it.
type api struct {
	serve func(testing.TB, llmtest.Handler) *llmtest.Server
	open  func(llm.Config) (llm.Model, error)
}

func (a api) model(t *testing.T, s *llmtest.Server) llm.Model {
	t.Helper()
	m, err := a.open(llm.Config{
		Key: "k", BaseURL: s.URL, Model: "test-model", Transport: transport(t), Now: time.Now,
	})
	needs.NoError(t, err)
	return m
}

var apis = map[string]api{"anthropic": {llmtest.Anthropic, llm.Anthropic}, "openai": {llmtest.OpenAI, llm.OpenAI}}

// transport leaves no connection behind.
func transport(t *testing.T) http.RoundTripper {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// play answers a request as the script has it.
func play(t *testing.T, s enginetest.Script, r llmtest.Request) llmtest.Reply {
	planned, err := s.Next(engine.Request{Schema: engine.RequestSchema, System: r.System, Prompt: r.Prompt()})
	if err != nil {
		t.Error(err)
	}
	reply := llmtest.Reply{Text: planned.Text, Usage: &precedent.Usage{}}
	_ = json.Unmarshal(planned.Usage, reply.Usage) // empty for some
	if len(planned.Answer) > 0 {
		reply.Text = string(planned.Answer)
	}
	if planned.Refused {
		reply.Refusal = "I cannot help with that."
	}
	if planned.Exit != 0 {
		reply.Status, reply.Message = http.StatusInternalServerError, "out of luck"
	}
	if planned.Hang {
		reply.Hold = llmtest.Never
	}
	if planned.Flood {
		reply.Text, reply.Flood = strings.Repeat("x", 1<<20), true
	}
	return reply
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
	return engine.Task{
		Role: engine.Finder, Name: "bugs", System: "s", Prefix: "shared ", Prompt: "own",
		Schema: json.RawMessage(`{"type":"object"}`),
	}
}

func TestCostAndPrefix(t *testing.T) {
	model := &fixed{name: "priced-1", reply: llm.Reply{
		Text: "{}", Stop: llm.StopEnd, Usage: precedent.Usage{Requests: 1, InputTokens: 1e6, OutputTokens: 1e6},
	}}
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
	if got := e.Info().Cost(precedent.Usage{InputTokens: 2e6}); got != 6 {
		t.Errorf("2 million input tokens cost %v", got)
	}
	if info := New(Config{Model: &fixed{name: "other"}, Why: "w"}).Info(); !strings.Contains(info.Line, "price unknown") ||
		info.Cost != nil {
		t.Errorf("info %+v", info)
	}
}

func TestBudgetStopsRequests(t *testing.T) {
	model := &fixed{name: "m", reply: llm.Reply{
		Text: "{}", Stop: llm.StopEnd, Usage: precedent.Usage{Requests: 1, InputTokens: 900, OutputTokens: 100},
	}}
	e := New(Config{Model: model, Budget: &engine.Budget{Tokens: 3000}, Why: "w"})
	var got []precedent.Status
	for range 4 {
		a := needs.Value(e.Run(t.Context(), task()))(t)
		got = append(got, a.Status)
	}
	// Each takes 1,000 tokens and is expected to take about 1,500.
	want := []precedent.Status{"ok", "ok", "over-budget", "over-budget"}
	if d := cmp.Diff(want, got); d != "" || model.sent.Load() != 2 {
		t.Errorf("%d requests, statuses %s", model.sent.Load(), d)
	}
}

// TestTroubleBecomesStatus: how a task ends if asking again does not help, and what is said of it. What servers answer is
// in the tests of llm.
func TestTroubleBecomesStatus(t *testing.T) {
	for _, test := range []struct {
		trouble llm.Error
		status  precedent.Status
		says    string
	}{
		{llm.Error{Kind: llm.KindContext}, "truncated", "; set the context window: --context N"},
		{llm.Error{Kind: llm.KindTooLarge}, "truncated", ""},
		{llm.Error{Kind: llm.KindTimeout}, "timeout", ""},
		{llm.Error{Kind: llm.KindRate}, "error", ""},
		{llm.Error{Kind: llm.KindAuth}, "error", "; check the key"},
		{llm.Error{Kind: llm.KindQuota, Status: 429}, "error", ""},
		{llm.Error{Kind: llm.KindRequest, Status: 404}, "error", "; check the model's name and the server's address"},
	} {
		a, err := New(Config{Model: &fixed{name: "m", err: &test.trouble}}).Run(t.Context(), task())
		if err != nil || a.Status != test.status || a.Message != test.trouble.Error()+test.says || a.JSON != nil {
			t.Errorf("%s: status %s (%s), %v", test.trouble.Kind, a.Status, a.Message, err)
		}
	}
	for stop, want := range map[llm.Stop]precedent.Status{llm.StopLength: "truncated", llm.StopRefusal: "refused"} {
		a, err := New(Config{Model: &fixed{name: "m", reply: llm.Reply{Stop: stop, Text: "{}"}}}).Run(t.Context(), task())
		if err != nil || a.Status != want {
			t.Errorf("%s: status %s, %v", stop, a.Status, err)
		}
	}
}
