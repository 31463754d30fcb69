package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
)

// OpenAIURL is where OpenAI's API lives.
const OpenAIURL = "https://api.openai.com/v1"

// OpenAIConfig says how to reach a server that is compatible with OpenAI's chat
// completions: OpenAI, Ollama, vLLM, llama.cpp, OpenRouter and others.
type OpenAIConfig struct {
	Key       Secret // empty for servers that ask for none
	BaseURL   string // with the version, such as http://localhost:11434/v1; empty means OpenAIURL
	Model     string
	Transport http.RoundTripper
	Now       func() time.Time
	FirstWait time.Duration
	Idle      time.Duration
}

// format is a way to hold a model to an answer's form, best first.
type format int

const (
	bySchema format = iota // response_format json_schema
	byJSON                 // response_format json_object
	byWords                // the prompt alone
)

type openAIModel struct {
	endpoint
	OpenAIConfig
	mu     sync.Mutex
	format format // the best one that the server has not refused
	// noTools and oldLimit remember what else the server refused.
	noTools  bool
	oldLimit bool
}

// OpenAI is a model behind a compatible server. What a server refuses (tools, a
// schema, JSON mode) is left out from then on.
func OpenAI(c OpenAIConfig) (Model, error) {
	if c.BaseURL == "" {
		c.BaseURL = OpenAIURL
	}
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	e, err := newEndpoint(c.BaseURL, c.Transport, c.FirstWait, c.Idle)
	if err != nil {
		return nil, err
	}
	if c.Model == "" || c.Now == nil {
		return nil, errors.New("a model's name and a clock are needed")
	}
	return &openAIModel{endpoint: e, OpenAIConfig: c}, nil
}

func (m *openAIModel) Name() string { return m.Model }
func (m *openAIModel) Host() string { return m.host }

// ability is what a request may use of the server.
type ability struct {
	format   format
	tools    bool
	oldLimit bool
}

func (m *openAIModel) Send(ctx context.Context, r Request) (Reply, error) {
	for {
		m.mu.Lock()
		a := ability{format: m.format, tools: !m.noTools && len(r.Tools) > 0, oldLimit: m.oldLimit}
		m.mu.Unlock()
		if len(r.Schema) == 0 {
			a.format = byWords
		}
		reply, err := m.send(ctx, r, a)
		var e *Error
		if err == nil || !errors.As(err, &e) || e.Kind != KindRequest || !m.concede(e.Message, a) {
			return reply, err
		}
	}
}

// concede learns from a refusal what the server cannot do, and tells whether
// there is anything left to leave out. The message decides where it names the
// feature; else the rarest feature goes first.
func (m *openAIModel) concede(message string, a ability) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(message), w) })
	}
	switch {
	case says("context length", "context window", "maximum context", "too many tokens"):
		return false // a shorter request is needed, not a simpler one
	case !a.oldLimit && says("max_completion_tokens"):
		m.oldLimit = true
	case a.tools && says("tool", "function"):
		m.noTools = true
	case a.format == bySchema:
		m.format = max(m.format, byJSON)
	case a.format == byJSON:
		m.format = max(m.format, byWords)
	case a.tools:
		m.noTools = true
	case !a.oldLimit:
		m.oldLimit = true
	default:
		return false
	}
	return true
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (m *openAIModel) body(r Request, a ability) map[string]any {
	messages := []chatMessage{}
	if r.System != "" {
		messages = append(messages, chatMessage{Role: "system", Content: r.System})
	}
	messages = append(messages, chatMessage{Role: "user", Content: r.Common + r.Prefix + r.Prompt})
	for _, t := range r.Turns {
		said := chatMessage{Role: "assistant", Content: t.Text}
		for i, c := range t.Calls {
			call := chatCall{Index: i, ID: c.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = c.Name, string(c.Args)
			said.ToolCalls = append(said.ToolCalls, call)
		}
		messages = append(messages, said)
		for _, res := range t.Results {
			messages = append(messages, chatMessage{Role: "tool", ToolCallID: res.ID, Content: res.Text})
		}
	}
	limit := r.MaxTokens
	if limit == 0 {
		limit = DefaultMaxTokens
	}
	body := map[string]any{
		"model": m.Model, "messages": messages, "stream": true,
		"stream_options": map[string]any{"include_usage": true},
	}
	if a.oldLimit {
		body["max_tokens"] = limit
	} else {
		body["max_completion_tokens"] = limit
	}
	switch a.format {
	case bySchema:
		var schema map[string]any
		if json.Unmarshal(r.Schema, &schema) == nil {
			body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
				"name": "answer", "strict": true, "schema": closed(schema),
			}}
		}
	case byJSON:
		body["response_format"] = map[string]any{"type": "json_object"}
	}
	if a.tools {
		var tools []map[string]any
		for _, t := range r.Tools {
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
				"name": t.Name, "description": t.Description, "parameters": t.Schema,
			}})
		}
		body["tools"] = tools
	}
	return body
}

func (m *openAIModel) send(parent context.Context, r Request, a ability) (Reply, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	payload, err := json.Marshal(m.body(r, a))
	if err != nil {
		return Reply{}, fmt.Errorf("write request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.BaseURL+"/chat/completions", bytes.NewReader(payload))
	if err != nil {
		return Reply{}, fmt.Errorf("make request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+string(m.Key))
	}
	resp, err := m.client(cancel, r.FirstByte).Do(req)
	if err != nil {
		return Reply{}, m.trouble(parent, ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return Reply{}, m.statusError(resp.StatusCode, resp.Header, errorMessage(text), m.Now())
	}
	reply, err := m.read(resp.Body, r)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			return Reply{}, err
		}
		return Reply{}, m.trouble(parent, ctx, err)
	}
	return reply, nil
}

func (m *openAIModel) trouble(parent, ctx context.Context, err error) error {
	if parent.Err() != nil {
		return parent.Err()
	}
	return m.transportError(ctx, err)
}

// errorMessage finds the message in an error's body, whichever of the usual
// forms the server has.
func errorMessage(body []byte) string {
	var form struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if json.Unmarshal(body, &form) != nil {
		return string(body)
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(form.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(form.Error, &text) == nil && text != "":
		return text
	case form.Message != "":
		return form.Message
	case form.Detail != "":
		return form.Detail
	}
	return string(body)
}

type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta struct {
			Content   string     `json:"content"`
			Refusal   string     `json:"refusal"`
			ToolCalls []chatCall `json:"tool_calls"`
		} `json:"delta"`
		Message      chatMessage `json:"message"` // of servers that do not stream
		FinishReason string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        int `json:"prompt_tokens"`
		CompletionTokens    int `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// gathered is a reply in the making.
type gathered struct {
	Reply
	refusal string
	finish  string
	counted bool
}

// read reads a stream of chunks, or the one answer of a server that ignores "stream".
func (m *openAIModel) read(body io.Reader, r Request) (Reply, error) {
	g := gathered{Reply: Reply{Model: m.Model}}
	lines := bufio.NewReaderSize(body, 64<<10)
	done := false
	for !done {
		line, err := lines.ReadString('\n')
		data, isEvent := strings.CutPrefix(strings.TrimSpace(line), "data:")
		data = strings.TrimSpace(data)
		switch {
		case isEvent && data == "[DONE]":
			done = true
		case isEvent || strings.HasPrefix(data, "{"):
			if e := m.take(&g, []byte(data)); e != nil {
				return Reply{}, e
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Reply{}, err
		}
	}
	if !done && g.finish == "" {
		return Reply{}, &Error{Kind: KindServer, Host: m.host, Message: "the stream was cut short"}
	}
	return g.finished(r), nil
}

// take adds one chunk to what was gathered.
func (m *openAIModel) take(g *gathered, data []byte) error {
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &Error{Kind: KindServer, Host: m.host, Message: "a chunk of the stream is not JSON"}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return &Error{Kind: KindServer, Host: m.host, Message: cut(errorMessage(data), 300)}
	}
	if c.Model != "" {
		g.Model = c.Model
	}
	if c.Usage != nil {
		g.counted = true
		g.Usage = precedent.Usage{
			Requests: 1, InputTokens: c.Usage.PromptTokens,
			CachedTokens: c.Usage.PromptTokensDetails.CachedTokens, OutputTokens: c.Usage.CompletionTokens,
		}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	g.Text += choice.Delta.Content + choice.Message.Content
	g.refusal += choice.Delta.Refusal
	for _, call := range append(choice.Delta.ToolCalls, choice.Message.ToolCalls...) {
		g.call(call)
	}
	if choice.FinishReason != "" {
		g.finish = choice.FinishReason
	}
	return nil
}

// call adds a piece of a tool call: the first piece names it, the others go on
// with its arguments.
func (g *gathered) call(c chatCall) {
	if c.Index < 0 || c.Index > 127 {
		return
	}
	for len(g.Calls) <= c.Index {
		g.Calls = append(g.Calls, Call{})
	}
	at := &g.Calls[c.Index]
	if c.ID != "" {
		at.ID = c.ID
	}
	at.Name += c.Function.Name
	at.Args = append(at.Args, c.Function.Arguments...)
}

func (g *gathered) finished(r Request) Reply {
	for i := range g.Calls {
		if g.Calls[i].ID == "" {
			g.Calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Turns), i)
		}
		if len(g.Calls[i].Args) == 0 {
			g.Calls[i].Args = json.RawMessage("{}")
		}
	}
	g.Stop = StopEnd
	switch {
	case g.refusal != "" || g.finish == "content_filter":
		g.Stop, g.Text = StopRefusal, g.Text+g.refusal
	case len(g.Calls) > 0:
		g.Stop = StopTools
	case g.finish == "length":
		g.Stop = StopLength
	}
	if !g.counted {
		g.Usage, g.Estimated = estimate(r, g.Reply), true
	}
	return g.Reply
}
