package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/strict"
)

// synthetic is the model of messages that the CLI writes itself.
const synthetic = "<synthetic>"

// event is a line of the stream, with the fields used of all kinds of lines.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`

	// system, subtype init
	Tools   []string `json:"tools"`
	Servers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	PermissionMode string `json:"permissionMode"`

	// assistant
	Message message `json:"message"`

	// stream_event, a piece of a message as it comes from the API
	Event struct {
		Type    string  `json:"type"`
		Message message `json:"message"` // of the type message_start
		Usage   usage   `json:"usage"`   // of the type message_delta, the whole message's
	} `json:"event"`

	// result
	IsError    bool                  `json:"is_error"`
	APIStatus  int                   `json:"api_error_status"`
	Result     string                `json:"result"`
	Errors     []string              `json:"errors"`
	Structured json.RawMessage       `json:"structured_output"`
	StopReason string                `json:"stop_reason"`
	CostUSD    float64               `json:"total_cost_usd"`
	Usage      usage                 `json:"usage"`
	ModelUsage map[string]modelUsage `json:"modelUsage"`
}

// message is a message of the model. It has one line for each of its blocks.
type message struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // pieces, or another form, which is ignored
	Usage   usage           `json:"usage"`
}

// piece is a part of a message's content.
type piece struct {
	Type string `json:"type"`
	Name string `json:"name"` // of a tool that is called
}

// usage counts like the provider's API: input_tokens are those that were neither read
// from the cache nor written to it.
type usage struct {
	Input      int `json:"input_tokens"`
	CacheWrite int `json:"cache_creation_input_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"`
	Output     int `json:"output_tokens"`
}

type modelUsage struct {
	Input      int `json:"inputTokens"`
	CacheWrite int `json:"cacheCreationInputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	Output     int `json:"outputTokens"`
}

func (u usage) precedent() precedent.Usage {
	for _, n := range []*int{&u.Input, &u.CacheWrite, &u.CacheRead, &u.Output} {
		*n = max(*n, 0)
	}
	return precedent.Usage{
		InputTokens: u.Input + u.CacheWrite + u.CacheRead, CachedTokens: u.CacheRead,
		CacheWriteTokens: u.CacheWrite, OutputTokens: u.Output,
	}
}

// checkTools checks the first line, in which the CLI lists the agent's tools: an
// unexpected one means that a defence has failed, so the session must end.
func (v event) checkTools(tools []string) error {
	for _, tool := range v.Tools {
		if tool != answerTool && tool != learningsTool && !slices.Contains(tools, tool) {
			return fmt.Errorf("it has the tool %q, which it must not have", tool)
		}
	}
	if v.PermissionMode != "default" {
		return fmt.Errorf("its permission mode is %q, not default", v.PermissionMode)
	}
	for _, s := range v.Servers {
		// Without our server the agent lacks some learnings, which is better than no review.
		if s.Status != "connected" && s.Name != serverName {
			return fmt.Errorf("the MCP server %q is %s, not connected", s.Name, s.Status)
		}
	}
	return nil
}

// watcher reads the stream as it arrives.
type watcher struct {
	began   func()   // called when the model's first message begins; may be nil
	tools   []string // that the agent may have
	secrets []string // removed from each line
	// charge is called when the model begins a message, with what the session has used so far. Its error ends
	// the session. It may be nil.
	charge  func(tokens int, usd float64) error
	problem error // why the session must end

	account
	line    []byte // the incomplete last line
	trusted bool
}

func (w *watcher) see(piece []byte) error {
	for w.problem == nil {
		head, rest, ended := bytes.Cut(piece, []byte("\n"))
		w.line = append(w.line, head...)
		if !ended {
			return nil
		}
		w.problem = w.look(scrub(w.line, w.secrets))
		w.line, piece = w.line[:0], rest
	}
	return w.problem
}

func (w *watcher) look(line []byte) error {
	v, ok := parse(line)
	switch {
	case !ok:
		return nil
	case v.Type == "system" && v.Subtype == "init":
		w.trusted = true
		return v.checkTools(w.tools)
	case v.Type != "assistant" && v.Type != "result" && v.Type != "stream_event":
		return nil
	case !w.trusted && !v.IsError:
		return fmt.Errorf("it did not say which tools the agent has")
	case w.began != nil && v.begins():
		w.began()
		w.began = nil
	}
	w.add(v)
	if w.charge == nil || v.Event.Type != "message_start" {
		return nil
	}
	used := w.total()
	return w.charge(used.Usage.Tokens(), used.CostUSD)
}

// begins tells whether the line says that the model has started to write.
func (v event) begins() bool {
	return v.Type == "stream_event" && v.Event.Type == "message_start" || v.Type == "assistant" &&
		v.Message.Model != synthetic
}

// parse reads a line of the stream. Lines that are not JSON objects, or have a field of
// the wrong type, are not ok and are ignored.
func parse(line []byte) (event, bool) {
	var v event
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return v, false
	}
	err := strict.Unmarshal(line, &v)
	return v, err == nil
}
