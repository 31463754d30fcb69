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
	for _, s := range both(t, failed(401, "not a key: "+canary)) {
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
		words  string
	}{
		{"Anthropic", 400, "prompt is too long: 203284 tokens > 200000 maximum"},
		{"Anthropic, far too large", 413, "Request exceeds the maximum size"},
		{"OpenAI, newer", 400, "Your input exceeds the context window of this model. Please adjust your input."},
		{"OpenAI's code", 400, `{"error":{"message":"No.","code":"context_length_exceeded"}}`},
		{"llama.cpp, its own error", 500, "the request exceeds the available context size, try increasing it"},
		{"Ollama", 400, "the input length exceeds the context length"},
		{"Gemini", 400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."},
	} {
		e := endpoint{host: "h"}.statusError(test.status, http.Header{}, "m", []byte(test.words), time.Now())
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
