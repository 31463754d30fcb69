package llm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// tooLong are messages of servers that a request does not fit into the context window: Anthropic's API (the first two),
// Bedrock, OpenAI (three), llama.cpp (three), vLLM and SGLang with OpenAI's old words, Ollama, Gemini, Mistral,
// llama-cpp-python and LM Studio. In small letters.
var tooLong = []string{
	"prompt is too long", "exceed context limit", "input is too long for", "context_length_exceeded",
	"exceeds the context window", "input tokens exceed", "exceed_context_size", "exceeds the available context size",
	"too large to process", "maximum context length", "exceeds the context length", "exceeds maximum context",
	"exceeds the maximum number of tokens", "too large for model", "exceed context window",
	"greater than the context length",
}

// windowSizes find the window's size in messages that contain it.
var windowSizes = sync.OnceValue(func() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`tokens > (\d+) maximum`),
		regexp.MustCompile(`exceed context limit: \d+ \+ \d+ > (\d+)`),
		regexp.MustCompile(`maximum context length (?:is|of) (\d+)`),
		regexp.MustCompile(`(\d+) maximum context length`),
		regexp.MustCompile(`"n_ctx": ?(\d+)`),
		regexp.MustCompile(`context size \((\d+) tokens\)`),
		regexp.MustCompile(`limit of (\d+) tokens`),
		regexp.MustCompile(`tokens allowed \((\d+)\)`),
		regexp.MustCompile(`exceed context window of (\d+)`),
		regexp.MustCompile(`context length of (?:only )?(\d+)`),
	}
})

// contextWindow tells whether an error says that the request is too long for the model,
// and the window's tokens if it has them. Some servers report it as a server error.
func contextWindow(status int, message string, body []byte) (tokens int, is bool) {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusInternalServerError:
	default:
		return 0, false
	}
	text := strings.ToLower(message + "\n" + string(body)) // an encoder may have escaped the one within the other
	is = status == http.StatusRequestEntityTooLarge
	for _, words := range tooLong {
		is = is || strings.Contains(text, words)
	}
	if !is {
		return 0, false
	}
	for _, re := range windowSizes() {
		if m := re.FindStringSubmatch(text); m != nil {
			tokens, _ = strconv.Atoi(m[1]) // 0 if it is out of range
			return tokens, true
		}
	}
	return 0, true
}
