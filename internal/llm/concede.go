package llm

import (
	"net/http"
	"slices"
	"strings"
)

// format is a way to enforce the form of an answer, best first.
type format int

const (
	bySchema format = iota // response_format json_schema
	byJSON                 // response_format json_object
	byWords                // the prompt alone
)

// ability is what a request may use of the server.
type ability struct {
	format format
	tools  bool
	limit  string // the name of the field that bounds the reply; empty: it is not bounded
	counts bool   // usage is asked for
}

// The names of the field that bounds the reply, new and old.
const (
	newLimit = "max_completion_tokens"
	oldLimit = "max_tokens"
)

// everything is what a server is assumed to support until it refuses.
var everything = ability{format: bySchema, tools: true, limit: newLimit, counts: true}

// abilityFor returns what the request needs and the server has not refused.
func (m *openAIModel) abilityFor(r Request) ability {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.ability
	a.tools = a.tools && len(r.Tools) > 0
	if len(r.Schema) == 0 {
		a.format = byWords
	}
	return a
}

// dropFeature disables the feature that the server refused, and tells whether there was
// one to disable. The message may name the feature; otherwise, if the request itself is
// refused, the rarest feature is disabled first.
func (m *openAIModel) dropFeature(e *Error, a ability) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	message := strings.ToLower(e.Message)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
	if e.Kind == KindContext {
		// Some servers add the bound of the reply to the prompt's size. Without it the
		// reply may use what is left of the window.
		if a.limit == "" || !says(newLimit, oldLimit, "in the completion", "output tokens") {
			return false
		}
		m.ability.limit = ""
		return true
	}
	refused := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	if !refused && e.Status != http.StatusInternalServerError && e.Status != http.StatusNotImplemented {
		return false
	}
	switch {
	case a.counts && says("stream_options"):
		m.ability.counts = false
	case a.limit == newLimit && says(newLimit):
		m.ability.limit = oldLimit
	case a.format != byWords && says("response_format", "response format", "json_schema", "json mode", "mime type",
		"structured output"):
		m.ability.format = max(m.ability.format, a.format+1)
	case a.tools && says("tool", "function"):
		m.ability.tools = false
	case !refused:
		return false // an error of the server that does not name a feature
	case a.format != byWords:
		m.ability.format = max(m.ability.format, a.format+1)
	case a.tools:
		m.ability.tools = false
	case a.limit == newLimit:
		m.ability.limit = oldLimit
	default:
		return false
	}
	return true
}
