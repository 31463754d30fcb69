package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
)

// block is a part of the prompt in the form of the model's API.
type block struct {
	Type  string     `json:"type"`
	Text  string     `json:"text"`
	Cache *cacheMark `json:"cache_control,omitempty"`
}

// cacheMark makes the provider cache all of the request up to its block's end.
type cacheMark struct {
	Type string `json:"type"`
}

// blocks returns the prompt: what tasks share, marked for caching, then the task's own
// part. A request can have four marks. The CLI sets two in the system text and one at
// the end of the last message, so one is left for Common and Prefix together. The API
// refuses blank blocks, so the prompt is one block if a part is blank.
func blocks(t engine.Task, marked bool) []block {
	shared, rest := t.Common+t.Prefix, t.Prompt
	if strings.TrimSpace(shared) == "" || strings.TrimSpace(rest) == "" {
		return []block{lastBlock(shared + rest)}
	}
	first := block{Type: "text", Text: shared}
	if marked {
		first.Cache = &cacheMark{Type: "ephemeral"}
	}
	return []block{first, lastBlock(rest)}
}

// lastBlock returns the last block, which is the one in which the CLI looks for a command, which a slash begins.
func lastBlock(s string) block {
	if strings.HasPrefix(strings.TrimSpace(s), "/") {
		s = "The task:\n\n" + s
	}
	return block{Type: "text", Text: s}
}

// input returns one message for the CLI's standard input: a line of JSON, so that the
// prompt cannot start another line.
func input(prompt []block) []byte {
	type message struct {
		Role    string  `json:"role"`
		Content []block `json:"content"`
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // it would make six bytes of characters that are common in diffs
	_ = encoder.Encode(struct {  // texts have a form
		Type    string  `json:"type"`
		Message message `json:"message"`
	}{"user", message{"user", prompt}})
	return line.Bytes()
}
