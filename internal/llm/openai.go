package llm

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
)

// OpenAIURL is where OpenAI's API lives.
const OpenAIURL = "https://api.openai.com/v1"

type openAIModel struct {
	endpoint
	Config
	mu      sync.Mutex
	ability ability // what the server has not refused
}

// OpenAI returns a model behind a server that is compatible with OpenAI's chat completions: OpenAI, Ollama,
// vLLM, llama.cpp, OpenRouter and others. Features that a server refuses (tools, a schema, JSON mode) are
// omitted from then on.
func OpenAI(c Config) (Model, error) {
	c.BaseURL = strings.TrimRight(cmp.Or(c.BaseURL, OpenAIURL), "/")
	e, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	e.bearer()
	return &openAIModel{endpoint: e, Config: c, ability: everything}, nil
}

func (m *openAIModel) Name() string { return m.Model }
func (m *openAIModel) Host() string { return m.host }

func (m *openAIModel) Send(ctx context.Context, r Request) (Reply, error) {
	m.mu.Lock()
	able := m.ability
	m.mu.Unlock()
	for conceded := false; ; conceded = true {
		a := able.forRequest(r)
		reply, err := m.send(ctx, r, a)
		if e, ok := errors.AsType[*Error](err); ok && able.drop(e, a) {
			continue
		}
		if err == nil && conceded { // else something else was wrong with the request
			m.mu.Lock()
			m.ability = m.ability.and(able)
			m.mu.Unlock()
		}
		return reply, err
	}
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Reasoning  string     `json:"reasoning_content,omitempty"`
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
		said := chatMessage{Role: "assistant", Content: t.Text, Reasoning: t.Reasoning}
		for i, c := range t.Calls {
			call := chatCall{Index: i, ID: c.ID, Type: "function"}
			call.Function.Name, call.Function.Arguments = c.Name, string(c.sent())
			said.ToolCalls = append(said.ToolCalls, call)
		}
		messages = append(messages, said)
		for _, res := range t.Results {
			messages = append(messages, chatMessage{Role: "tool", ToolCallID: res.ID, Content: res.Text})
		}
	}
	body := map[string]any{"model": m.Model, "messages": messages, "stream": true}
	if a.counts {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if a.limit != "" {
		body[a.limit] = cmp.Or(r.MaxTokens, DefaultMaxTokens)
	}
	switch a.format {
	case bySchema:
		body["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": "answer", "strict": true, "schema": closedSchema(r.Schema),
		}}
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
		if r.NoCalls {
			body["tool_choice"] = "none"
		}
	}
	return body
}

func (m *openAIModel) send(ctx context.Context, r Request, a ability) (reply Reply, err error) {
	err = m.post(ctx, m.BaseURL+"/chat/completions", m.body(r, a), r.FirstByte, func(body io.Reader) (err error) {
		reply, err = m.read(body, r)
		return err
	})
	return reply, err
}
