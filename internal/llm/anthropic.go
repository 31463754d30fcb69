package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/precedent-dev/precedent"
)

// AnthropicURL is where Anthropic's API lives.
const AnthropicURL = "https://api.anthropic.com"

// AnthropicConfig says how to reach Anthropic's API, or a server that speaks it.
type AnthropicConfig struct {
	Key       Secret
	BaseURL   string // empty means AnthropicURL
	Model     string
	Transport http.RoundTripper // nil means http.DefaultTransport
	Now       func() time.Time
	FirstWait time.Duration // to the first byte; 0 means five minutes
	Idle      time.Duration // between two events; 0 means one minute
}

type anthropicModel struct {
	endpoint
	model  string
	now    func() time.Time
	client anthropic.Client
	// unstructured is set once the model has refused an output schema.
	unstructured atomic.Bool
}

// Anthropic returns a model behind Anthropic's Messages API. Replies are streamed. The
// four cache breakpoints are the ends of the system text, of what all requests share,
// of what those about one part share, and of the last tool results, so that each turn
// of a tool loop reads the earlier ones from the cache.
func Anthropic(c AnthropicConfig) (Model, error) {
	if c.BaseURL == "" {
		c.BaseURL = AnthropicURL
	}
	e, err := newEndpoint(c.BaseURL, c.Key, c.Transport, c.FirstWait, c.Idle)
	if err != nil {
		return nil, err
	}
	if c.Model == "" || c.Now == nil {
		return nil, errors.New("a model's name and a clock are needed")
	}
	return &anthropicModel{
		endpoint: e, model: c.Model, now: c.Now,
		client: anthropic.NewClient(
			option.WithoutEnvironmentDefaults(),
			option.WithBaseURL(c.BaseURL),
			option.WithAPIKey(string(c.Key)),
			option.WithMaxRetries(0), // Reliable retries, for every provider alike
		),
	}, nil
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

func (m *anthropicModel) send(parent context.Context, r Request, structured bool) (Reply, error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	params, err := m.params(r, structured)
	if err != nil {
		return Reply{}, err
	}
	s := m.client.Messages.NewStreaming(ctx, params, option.WithHTTPClient(m.endpoint.client(cancel, r.FirstByte)))
	defer s.Close()
	var msg anthropic.Message
	ended := false
	for s.Next() {
		event := s.Current()
		if err := msg.Accumulate(event); err != nil {
			return Reply{}, &Error{Kind: KindServer, Host: m.host, Message: cut(err.Error(), 300)}
		}
		ended = ended || event.Type == "message_stop"
	}
	if err := s.Err(); err != nil {
		if parent.Err() != nil {
			return Reply{}, parent.Err()
		}
		return Reply{}, m.errorOf(ctx, err)
	}
	if !ended {
		return Reply{}, &Error{Kind: KindServer, Host: m.host, Message: "the stream was cut short"}
	}
	return m.reply(msg), nil
}

// errorOf converts an error of the SDK. Errors inside a stream have a type but no
// status.
func (m *anthropicModel) errorOf(ctx context.Context, err error) *Error {
	var api *anthropic.Error
	if !errors.As(err, &api) {
		return m.transportError(ctx, err)
	}
	status, header := api.StatusCode, http.Header{}
	if api.Response != nil {
		header = api.Response.Header
	}
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(api.RawJSON()), &body)
	if status == http.StatusOK || status == 0 {
		switch body.Error.Type {
		case "overloaded_error":
			status = 529
		case "rate_limit_error":
			status = http.StatusTooManyRequests
		case "invalid_request_error":
			status = http.StatusBadRequest
		default:
			status = http.StatusInternalServerError
		}
	}
	return m.statusError(status, header, body.Error.Message, []byte(api.RawJSON()), m.now())
}

func (m *anthropicModel) params(r Request, structured bool) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(r.MaxTokens)}
	if p.MaxTokens == 0 {
		p.MaxTokens = DefaultMaxTokens
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System, CacheControl: anthropic.NewCacheControlEphemeralParam()}}
	}
	var first []anthropic.ContentBlockParamUnion
	for _, shared := range []string{r.Common, r.Prefix} {
		if shared != "" {
			block := anthropic.NewTextBlock(shared)
			block.OfText.CacheControl = anthropic.NewCacheControlEphemeralParam()
			first = append(first, block)
		}
	}
	first = append(first, anthropic.NewTextBlock(r.Prompt))
	p.Messages = append(p.Messages, anthropic.NewUserMessage(first...))
	for i, t := range r.Turns {
		p.Messages = append(p.Messages, anthropicTurn(t, i == len(r.Turns)-1)...)
	}
	for _, t := range r.Tools {
		schema := anthropic.ToolInputSchemaParam{}
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("read schema of tool %s: %w", t.Name, err)
		}
		tool := anthropic.ToolUnionParamOfTool(schema, t.Name)
		tool.OfTool.Description = anthropic.String(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	if r.NoCalls && len(p.Tools) > 0 {
		p.ToolChoice.OfNone = &anthropic.ToolChoiceNoneParam{}
	}
	if structured {
		var schema map[string]any
		if err := json.Unmarshal(r.Schema, &schema); err != nil {
			return p, fmt.Errorf("read answer schema: %w", err)
		}
		p.OutputConfig = anthropic.OutputConfigParam{Format: anthropic.JSONOutputFormatParam{Schema: closed(schema)}}
	}
	return p, nil
}

// anthropicTurn is one round of the tool loop as two messages. The last one
// ends with a cache breakpoint.
func anthropicTurn(t Turn, last bool) []anthropic.MessageParam {
	var said, got []anthropic.ContentBlockParamUnion
	if t.Text != "" {
		said = append(said, anthropic.NewTextBlock(t.Text))
	}
	for _, c := range t.Calls {
		said = append(said, anthropic.NewToolUseBlock(c.ID, c.Args, c.Name))
	}
	for _, res := range t.Results {
		got = append(got, anthropic.NewToolResultBlock(res.ID, res.Text, res.Error))
	}
	if last && len(got) > 0 {
		got[len(got)-1].OfToolResult.CacheControl = anthropic.NewCacheControlEphemeralParam()
	}
	return []anthropic.MessageParam{anthropic.NewAssistantMessage(said...), anthropic.NewUserMessage(got...)}
}

func (m *anthropicModel) reply(msg anthropic.Message) Reply {
	out := Reply{Model: msg.Model, Stop: StopEnd}
	for _, b := range msg.Content {
		switch b.Type {
		case "text":
			out.Text += b.Text
		case "tool_use":
			out.Calls = append(out.Calls, Call{ID: b.ID, Name: b.Name, Args: b.Input})
		}
	}
	switch msg.StopReason {
	case anthropic.StopReasonToolUse:
		out.Stop = StopTools
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		out.Stop = StopLength
	case anthropic.StopReasonRefusal:
		out.Stop = StopRefusal
	}
	u := msg.Usage
	out.Usage = precedent.Usage{
		Requests:         1,
		InputTokens:      int(u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens),
		CachedTokens:     int(u.CacheReadInputTokens),
		CacheWriteTokens: int(u.CacheCreationInputTokens),
		OutputTokens:     int(u.OutputTokens),
	}
	return out
}
