package llm

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/strict"
)

// AnthropicURL is where Anthropic's API lives.
const AnthropicURL = "https://api.anthropic.com"

// anthropicVersion is the version of the Messages API, which every request names.
const anthropicVersion = "2023-06-01"

// Config says how to reach Anthropic's API, or a server that speaks it or OpenAI's chat completions.
type Config struct {
	Key       Secret // empty for servers that ask for none
	BaseURL   string // of OpenAI's API with the version; empty means AnthropicURL or OpenAIURL
	Model     string
	Transport http.RoundTripper // nil means http.DefaultTransport
	Now       func() time.Time
	FirstWait time.Duration // to the first byte; 0 means five minutes
	Idle      time.Duration // between two events; 0 means one minute
}

type anthropicModel struct {
	endpoint
	model string
	url   string
	// unstructured is set once the model has refused an output schema.
	unstructured atomic.Bool
}

// Anthropic returns a model behind Anthropic's Messages API. Replies are streamed. The four cache breakpoints
// are the ends of the system text, of what all requests share, of what those about one part share, and of the
// last tool results, so that each turn of a tool loop reads the earlier ones from the cache.
func Anthropic(c Config) (Model, error) {
	c.BaseURL = strings.TrimRight(cmp.Or(c.BaseURL, AnthropicURL), "/")
	e, err := newEndpoint(c)
	if err != nil {
		return nil, err
	}
	e.header.Set("Anthropic-Version", anthropicVersion)
	e.header.Set("X-Api-Key", string(c.Key))
	return &anthropicModel{endpoint: e, model: c.Model, url: c.BaseURL + "/v1/messages"}, nil
}

func (m *anthropicModel) Name() string { return m.model }
func (m *anthropicModel) Host() string { return m.host }

func (m *anthropicModel) Send(ctx context.Context, r Request) (Reply, error) {
	structured := len(r.Schema) > 0 && !m.unstructured.Load()
	reply, err := m.send(ctx, r, structured)
	var e *Error
	if structured && errors.As(err, &e) && e.Kind == KindRequest && e.Status == http.StatusBadRequest {
		// Older models refuse output_config; the schema is also in the system text.
		reply, err = m.send(ctx, r, false)
		if err == nil {
			m.unstructured.Store(true)
		}
	}
	return reply, err
}

func (m *anthropicModel) send(ctx context.Context, r Request, structured bool) (Reply, error) {
	var reply Reply
	err := m.post(ctx, m.url, m.body(r, structured), r.FirstByte, func(in io.Reader) (err error) {
		reply, err = m.read(in, r)
		return err
	})
	return reply, err
}

// anthropicBody is a request of the Messages API.
type anthropicBody struct {
	Model        string             `json:"model"`
	MaxTokens    int                `json:"max_tokens"`
	Stream       bool               `json:"stream"`
	System       []anthropicBlock   `json:"system,omitempty"`
	Messages     []anthropicMessage `json:"messages"`
	Tools        []anthropicTool    `json:"tools,omitempty"`
	ToolChoice   map[string]any     `json:"tool_choice,omitempty"`
	OutputConfig map[string]any     `json:"output_config,omitempty"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

// anthropicBlock is a block of a message: of type text, tool_use or tool_result.
type anthropicBlock struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      string          `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl map[string]any  `json:"cache_control,omitempty"`
}

// ephemeral marks the end of what the provider caches.
var ephemeral = map[string]any{"type": "ephemeral"}

func (m *anthropicModel) body(r Request, structured bool) anthropicBody {
	b := anthropicBody{Model: m.model, MaxTokens: cmp.Or(r.MaxTokens, DefaultMaxTokens), Stream: true}
	if r.System != "" {
		b.System = []anthropicBlock{{Type: "text", Text: r.System, CacheControl: ephemeral}}
	}
	var first []anthropicBlock
	for _, shared := range []string{r.Common, r.Prefix} {
		if shared != "" {
			first = append(first, anthropicBlock{Type: "text", Text: shared, CacheControl: ephemeral})
		}
	}
	first = append(first, anthropicBlock{Type: "text", Text: r.Prompt})
	b.Messages = append(b.Messages, anthropicMessage{"user", first})
	for i, t := range r.Turns {
		b.Messages = append(b.Messages, anthropicTurn(t, i == len(r.Turns)-1)...)
	}
	for _, t := range r.Tools {
		b.Tools = append(b.Tools, anthropicTool{t.Name, t.Description, t.Schema})
	}
	if r.NoCalls && len(b.Tools) > 0 {
		b.ToolChoice = map[string]any{"type": "none"}
	}
	if structured {
		b.OutputConfig = map[string]any{"format": map[string]any{"type": "json_schema", "schema": closedSchema(r.Schema)}}
	}
	return b
}

// anthropicTurn is one round of the tool loop as two messages. The last one ends with a cache breakpoint.
func anthropicTurn(t Turn, last bool) []anthropicMessage {
	var said, got []anthropicBlock
	if strings.TrimSpace(t.Text) != "" { // the API refuses blank blocks
		said = append(said, anthropicBlock{Type: "text", Text: t.Text})
	}
	for _, c := range t.Calls {
		said = append(said, anthropicBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.sent()})
	}
	for _, res := range t.Results {
		got = append(got, anthropicBlock{Type: "tool_result", ToolUseID: res.ID, Content: res.Text, IsError: res.Error})
	}
	if last && len(got) > 0 {
		got[len(got)-1].CacheControl = ephemeral
	}
	return []anthropicMessage{{"assistant", said}, {"user", got}}
}

// anthropicEvent is an event of a stream, of any type.
type anthropicEvent struct {
	Type    string `json:"type"`
	Message struct {
		Model string         `json:"model"`
		Usage anthropicUsage `json:"usage"`
	} `json:"message"` // of message_start
	Index int            `json:"index"`         // of content_block_*
	Block anthropicBlock `json:"content_block"` // of content_block_start
	Delta struct {
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"` // of content_block_delta and message_delta
	Usage anthropicUsage `json:"usage"` // of message_delta
	Error struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// anthropicUsage counts tokens; what an event does not count is nil.
type anthropicUsage struct {
	Input      *int `json:"input_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
	Output     *int `json:"output_tokens"`
}

// anthropicReply is an incomplete reply.
type anthropicReply struct {
	model, text, stop string
	calls             []Call
	inputs            []json.RawMessage // of the calls, as their first events have them
	at                map[int]int       // the place in calls by the index of the block
	usage             precedent.Usage   // InputTokens without those of the cache
	begun             bool              // the model has begun to answer
}

// read reads a stream of events. With an error, the reply has what it has cost.
func (m *anthropicModel) read(body io.Reader, asked Request) (Reply, error) {
	r := anthropicReply{model: m.model, at: map[int]int{}}
	last, err := m.events(bufio.NewReaderSize(body, 64<<10), func(data []byte) (bool, error) {
		var e anthropicEvent
		if err := strict.Unmarshal(data, &e); err != nil {
			return false, &Error{Kind: KindServer, Host: m.host, Message: "an event of the stream cannot be read"}
		}
		if e.Type == "error" {
			return false, m.statusError(streamStatus(e.Error.Type), nil, e.Error.Message, data, m.now())
		}
		r.add(e)
		return e.Type == "message_stop", nil
	})
	if err == nil && !last {
		err = m.cutShort()
	}
	out := r.finished()
	if !counted(out.Usage) {
		out.Usage = estimate(asked, out)
	}
	switch {
	case err != nil && !r.begun:
		return Reply{}, err
	case err != nil:
		return out.cost(asked), err
	}
	return out, nil
}

// streamStatus is the HTTP status of an error inside a stream, which has only a type.
func streamStatus(kind string) int {
	switch kind {
	case "overloaded_error":
		return 529
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "invalid_request_error":
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

func (r *anthropicReply) add(e anthropicEvent) {
	switch e.Type {
	case "message_start":
		r.begun = true
		if e.Message.Model != "" {
			r.model = e.Message.Model
		}
		r.count(e.Message.Usage)
	case "content_block_start":
		r.text += e.Block.Text
		if e.Block.Type == "tool_use" && len(r.calls) < mostCalls {
			r.at[e.Index] = len(r.calls)
			r.calls = append(r.calls, Call{ID: e.Block.ID, Name: e.Block.Name})
			r.inputs = append(r.inputs, e.Block.Input)
		}
	case "content_block_delta":
		r.text += e.Delta.Text
		if i, ok := r.at[e.Index]; ok {
			r.calls[i].Args = append(r.calls[i].Args, e.Delta.PartialJSON...)
		}
	case "message_delta":
		r.stop = e.Delta.StopReason
		r.count(e.Usage)
	}
}

// count takes the counts of an event, which are totals.
func (r *anthropicReply) count(u anthropicUsage) {
	set := func(to, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&r.usage.InputTokens, u.Input)
	set(&r.usage.CachedTokens, u.CacheRead)
	set(&r.usage.CacheWriteTokens, u.CacheWrite)
	set(&r.usage.OutputTokens, u.Output)
}

func (r *anthropicReply) finished() Reply {
	out := Reply{Text: r.text, Calls: r.calls, Model: r.model, Stop: StopEnd, Usage: r.usage}
	out.Usage.Requests = 1
	out.Usage.InputTokens += out.Usage.CachedTokens + out.Usage.CacheWriteTokens
	for i := range out.Calls {
		if len(out.Calls[i].Args) == 0 {
			out.Calls[i].Args = r.inputs[i]
		}
		if len(out.Calls[i].Args) == 0 {
			out.Calls[i].Args = json.RawMessage("{}")
		}
	}
	switch r.stop {
	case "tool_use":
		if len(out.Calls) > 0 {
			out.Stop = StopTools
		}
	case "max_tokens", "model_context_window_exceeded":
		out.Stop = StopLength
	case "refusal":
		out.Stop = StopRefusal
	}
	return out
}
