package llmtest

import (
	"fmt"
	"net/http"

	"github.com/precedent-dev/precedent"
)

func anthropicFailure(status int, message string) any {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
		529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}

func answerAnthropic(w *stream, r Request, reply Reply, u precedent.Usage) {
	w.w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, data object) {
		data["type"] = kind
		w.event(kind, data)
	}
	usage := object{
		"input_tokens": u.InputTokens - u.CachedTokens - u.CacheWriteTokens, "output_tokens": 1,
		"cache_read_input_tokens": u.CachedTokens, "cache_creation_input_tokens": u.CacheWriteTokens,
	}
	if reply.Uncount {
		usage = object{}
	}
	model := reply.Model
	if model == "" {
		model = r.Model
	}
	send("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_%d", r.N), "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": usage,
	}})
	send("ping", object{})
	if !w.wait(reply.Pause) {
		return
	}
	if reply.Broken != "" {
		send("error", object{"error": object{"type": reply.Broken, "message": "the stream broke"}})
		return
	}
	if reply.Drip {
		w.drip()
		return
	}
	index := 0
	if text := reply.Text + reply.Refusal; text != "" {
		send("content_block_start", object{"index": index, "content_block": object{"type": "text", "text": ""}})
		for again := true; again && !w.over; again = reply.Flood {
			for _, piece := range pieces(text) {
				send("content_block_delta", object{"index": index, "delta": object{"type": "text_delta", "text": piece}})
			}
		}
		send("content_block_stop", object{"index": index})
		index++
	}
	for _, c := range reply.Calls {
		send("content_block_start", object{"index": index, "content_block": object{
			"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{},
		}})
		for _, piece := range pieces(c.Args) {
			send("content_block_delta", object{"index": index, "delta": object{
				"type":         "input_json_delta",
				"partial_json": piece,
			}})
		}
		send("content_block_stop", object{"index": index})
		index++
	}
	end := object{"delta": object{"stop_reason": reply.stop("end_turn", "tool_use", "refusal"), "stop_sequence": nil}}
	if end["usage"] = (object{"output_tokens": u.OutputTokens}); reply.Uncount {
		end["usage"] = object{}
	}
	send("message_delta", end)
	send("message_stop", object{})
}

// stop returns the reply's stop reason.
func (r Reply) stop(end, calls, refusal string) string {
	switch {
	case r.Stop != "":
		return r.Stop
	case r.Refusal != "":
		return refusal
	case len(r.Calls) > 0:
		return calls
	}
	return end
}
