package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

type object = map[string]any

// mostBreakpoints is the real API's limit.
const mostBreakpoints = 4

type anthropicBody struct {
	Model      string            `json:"model"`
	MaxTokens  int               `json:"max_tokens"`
	Stream     bool              `json:"stream"`
	System     json.RawMessage   `json:"system"`
	Tools      []json.RawMessage `json:"tools"`
	ToolChoice *struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	OutputConfig json.RawMessage `json:"output_config"`
	Messages     []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
}

// anthropicBlock is a block of any kind, or a tool.
type anthropicBlock struct {
	raw          json.RawMessage
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	ToolUseID    string          `json:"tool_use_id"`
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	CacheControl json.RawMessage `json:"cache_control"`
}

func (b anthropicBlock) breakpoint() bool { return len(b.CacheControl) > 0 }

// blocks parses content, which may be a plain string.
func blocks(raw json.RawMessage) ([]anthropicBlock, error) {
	var text string
	if len(raw) == 0 {
		return nil, nil
	}
	if json.Unmarshal(raw, &text) == nil {
		return []anthropicBlock{{raw: raw, Type: "text", Text: text}}, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, errors.New("content: Input should be a valid list")
	}
	var all []anthropicBlock
	for _, raw := range list {
		b := anthropicBlock{raw: raw}
		if err := json.Unmarshal(raw, &b); err != nil {
			return nil, fmt.Errorf("content: %w", err)
		}
		if b.Type == "text" && b.Text == "" {
			return nil, errors.New("messages: text content blocks must be non-empty")
		}
		all = append(all, b)
	}
	return all, nil
}

// cached is the block for the cache; what is before it has its own bytes.
func (b anthropicBlock) cached(before string) block {
	bare := string(b.raw)
	if b.breakpoint() { // it is not cached itself
		mark := `"cache_control":` + string(b.CacheControl)
		bare = strings.Replace(strings.Replace(bare, ","+mark, "", 1), mark+",", "", 1)
	}
	text := b.Text
	switch b.Type {
	case "tool_use":
		text = b.Name + string(b.Input)
	case "tool_result":
		text = b.result()
	case "text":
	default: // a tool
		text = bare
	}
	return block{bytes: before + "\x00" + bare, tokens: tokensOf(text), breakpoint: b.breakpoint()}
}

// result is the text of a tool's result.
func (b anthropicBlock) result() string {
	inner, err := blocks(b.Content)
	if err != nil {
		return string(b.Content)
	}
	var text strings.Builder
	for _, i := range inner {
		text.WriteString(i.Text)
	}
	return text.String()
}

// parseAnthropic reads a request. Its cache has the tools first, then the form of
// the answer with the system text, then the messages with the choice of tools.
func parseAnthropic(raw []byte) (Request, prompt, error) {
	var body anthropicBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return Request{}, prompt{}, errors.New("The request body is not valid JSON") //nolint:staticcheck // the words of the API
	}
	r, p := Request{Model: body.Model, MaxTokens: body.MaxTokens}, prompt{model: body.Model, blocks: []block{}}
	for _, raw := range body.Tools {
		b := anthropicBlock{raw: raw}
		if err := json.Unmarshal(raw, &b); err != nil {
			return r, p, fmt.Errorf("tools: %w", err)
		}
		b.Type = "tool"
		r.Tools = append(r.Tools, b.Name)
		p.blocks = append(p.blocks, b.cached("tools"))
	}
	if body.ToolChoice != nil {
		r.ToolChoice = body.ToolChoice.Type
	}
	if len(body.OutputConfig) > 0 {
		var config struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		}
		if err := json.Unmarshal(body.OutputConfig, &config); err != nil {
			return r, p, fmt.Errorf("output_config: %w", err)
		}
		r.Format, r.Schema = config.Format.Type, config.Format.Schema
		// No block of its own: it is hashed and counted with the system text, and
		// stands as one if there is none.
		p.blocks = append(p.blocks, block{bytes: "format" + string(body.OutputConfig), tokens: tokensOf(string(r.Schema))})
	}
	system, err := blocks(body.System)
	if err != nil {
		return r, p, err
	}
	for _, b := range system {
		r.System += b.Text
		p.blocks = append(p.blocks, b.cached("system"))
	}
	if err := readMessages(body, &r, &p); err != nil {
		return r, p, err
	}
	return r, p, checkAnthropic(body, p)
}

func readMessages(body anthropicBody, r *Request, p *prompt) error {
	for i, m := range body.Messages {
		content, err := blocks(m.Content)
		if err != nil {
			return err
		}
		if m.Role == "assistant" {
			r.Turns = append(r.Turns, Turn{})
		}
		for _, b := range content {
			p.blocks = append(p.blocks, b.cached(fmt.Sprintf("%s %d %s", m.Role, i, r.ToolChoice)))
			if len(r.Turns) == 0 {
				r.User = append(r.User, Block{b.Text, b.breakpoint()})
				continue
			}
			turn := &r.Turns[len(r.Turns)-1]
			switch b.Type {
			case "tool_use":
				turn.Calls = append(turn.Calls, Call{b.ID, b.Name, string(b.Input)})
			case "tool_result":
				turn.Results = append(turn.Results, Result{b.ToolUseID, b.result(), b.IsError, b.breakpoint()})
			default:
				turn.Text += b.Text
			}
		}
		if n := len(r.Turns); n > 0 && m.Role == "user" {
			if err := answered(r.Turns[n-1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// answered checks that every tool call of a turn has a result.
func answered(t Turn) error {
	got := map[string]bool{}
	for _, res := range t.Results {
		got[res.ID] = true
	}
	for _, c := range t.Calls {
		if !got[c.ID] {
			return fmt.Errorf("messages: `tool_use` ids were found without `tool_result` blocks immediately after: %s", c.ID)
		}
	}
	return nil
}

// checkAnthropic rejects what the real API rejects.
func checkAnthropic(body anthropicBody, p prompt) error {
	breakpoints := 0
	for _, b := range p.blocks {
		if b.breakpoint {
			breakpoints++
		}
	}
	switch {
	case body.Model == "" || body.MaxTokens < 1:
		return errors.New("model and max_tokens: Field required")
	case !body.Stream:
		return errors.New("this server streams, the request does not")
	case len(body.Messages) == 0 || body.Messages[0].Role != "user":
		return errors.New("messages: first message must use the \"user\" role")
	case breakpoints > mostBreakpoints:
		return fmt.Errorf("A maximum of %d blocks with cache_control may be provided. Found %d.", mostBreakpoints, breakpoints) //nolint:staticcheck,revive // the words of the API
	}
	return nil
}
