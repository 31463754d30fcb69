package llm

import (
	"net/http"
	"slices"
	"strings"
)

// format is a way to hold a model to an answer's form, best first.
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

// The names of the reply's bound, the new one and the old.
const (
	newLimit = "max_completion_tokens"
	oldLimit = "max_tokens"
)

// everything is what a server is taken to be able to do before it refuses.
var everything = ability{format: bySchema, tools: true, limit: newLimit, counts: true}

// abilityFor is what the request needs of what the server has not refused.
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

// dropFeature learns from a refusal what the server cannot do, and tells whether
// there is anything left to leave out. The message decides where it names the
// feature; else, if the request itself is refused, the rarest feature goes first.
func (m *openAIModel) dropFeature(e *Error, a ability) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	message := strings.ToLower(e.Message)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
	if e.Kind == KindContext {
		// Some take the reply's bound for something that has to fit in as well. Without
		// it the reply may take what is left of the window.
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
	case a.format != byWords && says("response_format", "response format", "json_schema", "json mode", "mime type", "structured output"):
		m.ability.format = max(m.ability.format, a.format+1)
	case a.tools && says("tool", "function"):
		m.ability.tools = false
	case !refused:
		return false // its own trouble, of which it does not say that a feature is to blame
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
