package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
)

type openAIBody struct {
	Model               string            `json:"model"`
	MaxTokens           int               `json:"max_tokens"`
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Stream              bool              `json:"stream"`
	Tools               []json.RawMessage `json:"tools"`
	ToolChoice          string            `json:"tool_choice"`
	ResponseFormat      json.RawMessage   `json:"response_format"`
	Messages            []json.RawMessage `json:"messages"`
}

type openAIMessage struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	Reasoning string `json:"reasoning_content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// parseOpenAI reads a request. Its cache has the tools and the form of the answer before the messages.
func parseOpenAI(raw []byte) (Request, prompt, error) {
	var body openAIBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return Request{}, prompt{}, errors.New("We could not parse the JSON body of your request.") //nolint:staticcheck,revive // the words of the API
	}
	r := Request{Model: body.Model, MaxTokens: max(body.MaxTokens, body.MaxCompletionTokens), ToolChoice: body.ToolChoice}
	p := prompt{model: body.Model}
	for _, raw := range body.Tools {
		var tool struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return r, p, fmt.Errorf("tools: %w", err)
		}
		r.Tools = append(r.Tools, tool.Function.Name)
		p.text += string(raw)
	}
	if len(body.ResponseFormat) > 0 {
		var format struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		}
		if err := json.Unmarshal(body.ResponseFormat, &format); err != nil {
			return r, p, fmt.Errorf("response_format: %w", err)
		}
		r.Format, r.Schema = format.Type, format.JSONSchema.Schema
		p.text += string(body.ResponseFormat)
	}
	for _, raw := range body.Messages {
		var m openAIMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return r, p, fmt.Errorf("messages: %w", err)
		}
		p.text += string(raw)
		r.add(m)
	}
	if body.Model == "" || len(body.Messages) == 0 {
		return r, p, errors.New("you must provide a model parameter and messages")
	}
	return r, p, nil
}

func (r *Request) add(m openAIMessage) {
	switch m.Role {
	case "system":
		r.System += m.Content
	case "assistant":
		turn := Turn{Text: m.Content, Reasoning: m.Reasoning}
		for _, c := range m.ToolCalls {
			turn.Calls = append(turn.Calls, Call{c.ID, c.Function.Name, c.Function.Arguments})
		}
		r.Turns = append(r.Turns, turn)
	case "tool":
		if n := len(r.Turns); n > 0 {
			r.Turns[n-1].Results = append(r.Turns[n-1].Results, Result{ID: m.ToolCallID, Text: m.Content})
		}
	default:
		r.User = append(r.User, Block{Text: m.Content})
	}
}
