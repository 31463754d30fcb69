package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// fixingModel is a scripted server of the Messages API for the real Claude Code: the finder general
// reports the refund as long as it is there, and who is to fix it reads the file and edits it.
type fixingModel struct {
	mu    sync.Mutex
	tools map[string]int // calls, by tool
}

const boundedRefund = "  ledger.total -= Math.min(amount, ledger.paid)"

func (m *fixingModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.URL.Path != "/v1/messages" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	tool, input := m.answer(string(body))
	m.mu.Lock()
	m.tools[tool]++
	n := m.tools[tool]
	m.mu.Unlock()
	arguments, _ := json.Marshal(input)
	type o = map[string]any
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []o{
		{"type": "message_start", "message": o{
			"id": fmt.Sprint("msg_", tool, n), "type": "message", "role": "assistant", "model": "claude-x", "content": []any{}, "usage": o{"input_tokens": 10, "output_tokens": 1},
		}},
		{"type": "content_block_start", "index": 0, "content_block": o{"type": "tool_use", "id": fmt.Sprint("toolu_", tool, n), "name": tool, "input": o{}}},
		{"type": "content_block_delta", "index": 0, "delta": o{"type": "input_json_delta", "partial_json": string(arguments)}},
		{"type": "content_block_stop", "index": 0},
		{"type": "message_delta", "delta": o{"stop_reason": "tool_use"}, "usage": o{"output_tokens": 7}},
		{"type": "message_stop"},
	} {
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], data)
	}
}

// answer returns the next call of a tool in a conversation.
func (m *fixingModel) answer(body string) (tool string, input any) {
	type o = map[string]any
	const done = "StructuredOutput"
	thread := func() string {
		if found := threadID.FindStringSubmatch(strings.ReplaceAll(body, `\n`, "\n")); found != nil {
			return found[1]
		}
		return ""
	}
	results := strings.Count(body, `"type":"tool_result"`)
	switch {
	case strings.Contains(body, "threads_addressed") && results == 0:
		return "Read", o{"file_path": "src/till.js"}
	case strings.Contains(body, "threads_addressed") && results == 1:
		return "Edit", o{"file_path": "src/till.js", "old_string": flaws[0].lines[0], "new_string": boundedRefund}
	case strings.Contains(body, "threads_addressed"):
		return done, o{"threads_addressed": []o{{"thread": thread(), "how": "The refund is bounded by what was paid."}}, "summary": "I bounded the refund."}
	case strings.Contains(body, "Your assignment: the whole change") && strings.Contains(body, flaws[0].lines[0]+`\n`) && !strings.Contains(body, boundedRefund):
		return done, o{"findings": []o{{
			"path": "src/till.js", "quote": flaws[0].lines[0], "category": "bugs", "severity": "high", "confidence": 95, "title": flaws[0].says[0][0], "body": flaws[0].says[0][1],
		}}, "summary": ""}
	case strings.Contains(body, "Your assignment: "):
		return done, o{"findings": []o{}, "summary": ""}
	case strings.Contains(body, `"still_there"`) && thread() != "":
		return done, o{"threads": []o{{"thread_id": thread(), "state": "addressed", "reply": ""}}}
	}
	return done, o{"verdicts": []o{}, "pairs": []o{}}
}
