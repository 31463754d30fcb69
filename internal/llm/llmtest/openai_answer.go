package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/precedent-dev/precedent"
)

func openAIFailure(status int, message string) any {
	kind := "invalid_request_error"
	if status >= http.StatusInternalServerError {
		kind = "server_error"
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": nil}}
}

func answerOpenAI(w *stream, r Request, reply Reply, u precedent.Usage) {
	var body openAIBody
	_ = json.Unmarshal(r.Body, &body) // it was read before
	model := reply.Model
	if model == "" {
		model = r.Model
	}
	details := object{"cached_tokens": u.CachedTokens}
	if u.CacheWriteTokens > 0 { // which only some servers tell
		details["cache_write_tokens"] = u.CacheWriteTokens
	}
	usage := object{
		"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens,
		"total_tokens": u.Tokens(), "prompt_tokens_details": details,
	}
	id := fmt.Sprintf("chatcmpl-%d", r.N)
	stop := reply.stop("stop", "tool_calls", "stop")
	if reply.Whole || !body.Stream {
		whole := object{
			"id": id, "object": "chat.completion", "model": model,
			"choices": []any{object{"index": 0, "message": wholeMessage(reply), "finish_reason": stop}},
		}
		if !reply.Uncount {
			whole["usage"] = usage
		}
		w.w.Header().Set("Content-Type", "application/json")
		w.write(encode(whole))
		return
	}
	w.w.Header().Set("Content-Type", "text/event-stream")
	send := func(delta object, finish any) {
		w.event("", object{
			"id": id, "object": "chat.completion.chunk", "model": model,
			"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	send(object{"role": "assistant", "content": ""}, nil)
	if !w.wait(reply.Pause) {
		return
	}
	switch {
	case reply.Broken != "":
		w.event("", object{"error": object{"message": reply.Broken}})
		return
	case reply.Drip:
		w.drip()
		return
	}
	if reply.Reasoning != "" {
		for _, piece := range pieces(reply.Reasoning) {
			send(object{"reasoning_content": piece}, nil)
		}
	}
	for again := true; again && !w.over; again = reply.Flood {
		for _, piece := range pieces(reply.Text) {
			send(object{"content": piece}, nil)
		}
	}
	if reply.Refusal != "" {
		send(object{"refusal": reply.Refusal}, nil)
	}
	for i, c := range reply.Calls {
		cut := pieces(c.Args)
		first := calls([]Call{{c.ID, c.Name, cut[0]}}, true)[0]
		first["index"] = i
		send(object{"tool_calls": []any{first}}, nil)
		for _, piece := range cut[1:] {
			send(object{"tool_calls": []any{object{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	send(object{}, stop)
	if !reply.Uncount {
		w.event("", object{"id": id, "object": "chat.completion.chunk", "model": model, "choices": []any{}, "usage": usage})
	}
	w.write([]byte("data: [DONE]\n\n"))
}

// wholeMessage is the message of an answer that is not streamed.
func wholeMessage(reply Reply) object {
	message := object{"role": "assistant", "content": reply.Text}
	if reply.Refusal != "" {
		message["content"], message["refusal"] = nil, reply.Refusal
	}
	if reply.Reasoning != "" {
		message["reasoning_content"] = reply.Reasoning
	}
	if len(reply.Calls) > 0 {
		message["tool_calls"] = calls(reply.Calls, false)
	}
	return message
}

// calls are tool calls on the wire, which have an index in a stream alone.
func calls(list []Call, streamed bool) []object {
	var all []object
	for i, c := range list {
		call := object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": c.Args}}
		if streamed {
			call["index"] = i
		}
		all = append(all, call)
	}
	return all
}
