package llm

import (
	"net/http"
	"slices"
	"strings"
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

// isTooLong tells whether an error says that the request is too long for the model. Some servers report it as a server
// error.
func isTooLong(status int, message string, body []byte) bool {
	switch status {
	case http.StatusRequestEntityTooLarge:
		return true
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		text := strings.ToLower(message + "\n" + string(body)) // an encoder may have escaped the one within the other
		return slices.ContainsFunc(tooLong, func(words string) bool { return strings.Contains(text, words) })
	}
	return false
}
