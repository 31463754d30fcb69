package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// synthetic is the model of messages that the CLI writes itself.
const synthetic = "<synthetic>"

// event is a line of the stream: the fields that are looked at, of all kinds.
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
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`

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

// usage counts as the provider's API does: input_tokens are those that were
// neither read from the cache nor written to it.
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

// trust checks the first line, in which the CLI says what the agent has: more
// than it should means that a defence has failed, and that the session must end.
func (v event) trust() error {
	for _, tool := range v.Tools {
		if tool != answerTool && !slices.Contains(tools, tool) {
			return fmt.Errorf("it has the tool %q, which is not for reading", tool)
		}
	}
	if v.PermissionMode != "default" {
		return fmt.Errorf("its permission mode is %q, not default", v.PermissionMode)
	}
	for _, s := range v.Servers {
		if s.Status != "connected" {
			return fmt.Errorf("the MCP server %q is %s, not connected", s.Name, s.Status)
		}
	}
	return nil
}

// watcher looks at the stream as it comes.
type watcher struct {
	began   func() // called at the model's first message; may be nil
	problem error  // why the session must end

	line    []byte // what has come of the line
	trusted bool
}

func (w *watcher) see(piece []byte) error {
	for w.problem == nil {
		head, rest, ended := bytes.Cut(piece, []byte("\n"))
		if w.trusted && w.began == nil {
			return nil // there is nothing more to see
		}
		w.line = append(w.line, head...)
		if !ended {
			return nil
		}
		w.problem = w.look(w.line)
		w.line, piece = w.line[:0], rest
	}
	return w.problem
}

func (w *watcher) look(line []byte) error {
	v, ok := parse(line)
	switch {
	case !ok:
	case v.Type == "system" && v.Subtype == "init":
		w.trusted = true
		return v.trust()
	case v.Type != "assistant" && v.Type != "result":
	case !w.trusted && !v.IsError:
		return fmt.Errorf("it did not say which tools the agent has")
	case v.Type == "assistant" && v.Message.Model != synthetic && w.began != nil:
		w.began()
		w.began = nil
	}
	return nil
}

// parse reads a line of the stream. Lines that are no JSON object, or that have
// a field of another type than it should be, are not ok: they count as missing.
func parse(line []byte) (event, bool) {
	var v event
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return v, false
	}
	err := json.Unmarshal(line, &v)
	return v, err == nil
}

// read takes the reply from the whole stream; its status is empty if there is
// no result. A stream that breaks off still tells what was used.
func read(stream []byte) engine.Reply {
	var r engine.Reply
	used := map[string]usage{} // by message, which comes in as many lines as it has blocks
	for line := range bytes.Lines(stream) {
		v, ok := parse(line)
		switch {
		case ok && v.Type == "assistant" && v.Message.Model != synthetic:
			used[v.Message.ID] = v.Message.Usage
			r.Model = shorten(v.Message.Model)
		case ok && v.Type == "result":
			r.Status, r.Message, r.Output = v.end()
			r.CostUSD, r.Usage = max(v.CostUSD, 0), v.sum()
		}
	}
	if r.Status == "" {
		for _, u := range used {
			r.Usage.Add(u.precedent())
		}
	}
	r.Usage.Requests = len(used)
	return r
}

// sum is what the session used: of all its models, if it says so.
func (v event) sum() precedent.Usage {
	if len(v.ModelUsage) == 0 {
		return v.Usage.precedent()
	}
	var sum precedent.Usage
	for _, m := range v.ModelUsage {
		sum.Add(usage(m).precedent())
	}
	return sum
}

// end says how the session ended. That is_error is set counts, whatever the
// subtype says: an error of the API comes as a success.
func (v event) end() (precedent.Status, string, []byte) {
	said := shorten(strings.Join(append(v.Errors, v.Result), " "))
	switch {
	case v.StopReason == "refusal":
		return precedent.StatusRefused, "the model refused", nil
	case v.Subtype == "error_max_turns":
		return precedent.StatusTruncated, "the model used up its turns before it answered", nil
	case v.Subtype == "error_max_budget_usd":
		return precedent.StatusOverBudget, "the session reached what the budget has left", nil
	case v.Subtype == "error_max_structured_output_retries":
		return precedent.StatusMalformed, "the answer does not satisfy the schema", nil
	case v.APIStatus == 401 || v.APIStatus == 403:
		return precedent.StatusError, said + "; check the key", nil
	case v.StopReason == "max_tokens", v.IsError && strings.Contains(v.Result, "output token maximum"):
		return precedent.StatusTruncated, "the model ran out of room before its answer was whole", nil
	case v.IsError && v.APIStatus == 0 && strings.Contains(v.Result, "Prompt is too long"):
		return precedent.StatusTruncated, "the prompt is too long for the model", nil
	case v.IsError || v.Subtype != "success":
		return precedent.StatusError, "Claude Code: " + after(v.Subtype+": ", said), nil
	case len(v.Structured) > 0 && string(v.Structured) != "null":
		return precedent.StatusOK, "", v.Structured
	}
	return precedent.StatusOK, "", []byte(v.Result) // prose, or the answer among it
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 300 // characters
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
