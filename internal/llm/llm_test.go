package llm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestKeyNeverShows looks for the key in everything that an error or a configuration can be turned into.
func TestKeyNeverShows(t *testing.T) {
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	for _, s := range both(t, failed(401, "bad key")) {
		_, err := s.Send(t.Context(), Request{Prompt: "p"})
		fmt.Fprintf(&out, "%v %+v %#v", err, err, err)
		log.Error("failed", "err", err)
	}
	config := Config{Key: canary}
	fmt.Fprintf(&out, "%v %+v %#v %s %q %x", config, config, config, config.Key, config.Key, config.Key)
	b, err := json.Marshal(m{"key": config.Key})
	out.Write(b)
	log.Info("config", "key", config.Key)
	if err != nil || strings.Contains(out.String(), canary[3:]) ||
		strings.Contains(out.String(), fmt.Sprintf("%x", canary)) {
		t.Errorf("%v; the key shows in %s", err, out.String())
	}
}

func TestConfigErrors(t *testing.T) {
	for _, base := range []string{"ftp://x", "not a url", "http://", "https://user:secret@host"} {
		if _, err := OpenAI(Config{BaseURL: base, Model: "m", Now: time.Now}); err == nil ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// TestContextWindow has the words of real servers, as their users report them.
func TestContextWindow(t *testing.T) {
	for _, test := range []struct {
		name   string
		status int
		body   string
	}{
		{"Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 203284 tokens > 200000 maximum"}}`},
		{
			"Anthropic with the reply", 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" +
				` exceed context limit: 190000 + 16000 > 200000, decrease input length or ` + "`max_tokens`" + ` and try again"}}`,
		},
		{
			"Anthropic, far too large", 413,
			`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
		},
		{"OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
		{
			"OpenAI, newer", 400,
			`{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
		},
		{
			"OpenAI, configured", 400,
			`{"error":{"message":"Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 280000 tokens.","code":"context_length_exceeded"}}`,
		},
		{"llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`},
		{
			"llama.cpp, its own error", 500,
			`{"error":{"code":500,"message":"the request exceeds the available context size, try increasing it","type":"server_error"}}`,
		},
		{
			"llama.cpp, newer", 400,
			`{"error":{"code":400,"message":"request (14429 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error"}}`,
		},
		{"llama-cpp-python", 400, `{"error":{"message":"Requested tokens (2285) exceed context window of 2048"}}`},
		{"vLLM", 400, `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).","type":"BadRequestError","code":400}`},
		{"Ollama", 400, `{"error":{"message":"the input length exceeds the context length"}}`},
		{"Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`},
		{"Mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}`},
	} {
		e := endpoint{host: "h"}.statusError(test.status, http.Header{}, "m", []byte(test.body), time.Now())
		if e.Kind != KindContext {
			t.Errorf("%s: kind %s", test.name, e.Kind)
		}
	}
	for _, test := range []struct {
		status int
		body   string
	}{
		{400, `{"error":{"message":"registry.ollama.ai/library/x does not support tools"}}`},
		{401, `{"error":{"message":"prompt is too long"}}`},
		{429, `{"error":{"message":"maximum context length is 8 tokens"}}`},
		{500, `{"error":{"message":"out of memory"}}`},
	} {
		if isTooLong(test.status, "", []byte(test.body)) {
			t.Errorf("%d %s was taken for a request that is too long", test.status, test.body)
		}
	}
}
