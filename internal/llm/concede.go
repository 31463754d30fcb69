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

// forRequest returns what the request needs and the server has not refused.
func (a ability) forRequest(r Request) ability {
	a.tools = a.tools && len(r.Tools) > 0
	if len(r.Schema) == 0 {
		a.format = byWords
	}
	return a
}

// and returns what both allow. Requests that are sent at the same time concede different features.
func (a ability) and(b ability) ability {
	if a.limit == newLimit || b.limit == "" {
		a.limit = b.limit
	}
	return ability{max(a.format, b.format), a.tools && b.tools, a.limit, a.counts && b.counts}
}

// drop disables the feature that the server refused, and tells whether there was one to disable. used is what the
// request had. The message may name the feature; otherwise, if the request itself is refused, the rarest feature is
// disabled first.
func (a *ability) drop(e *Error, used ability) bool {
	message := strings.ToLower(e.Message)
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(message, w) })
	}
	if e.Kind == KindContext {
		// Some servers add the bound of the reply to the prompt's size. Without it the
		// reply may use what is left of the window.
		if used.limit == "" || !says(newLimit, oldLimit, "in the completion", "output tokens") {
			return false
		}
		a.limit = ""
		return true
	}
	refused := e.Kind == KindRequest && (e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity)
	if !refused && e.Status != http.StatusInternalServerError && e.Status != http.StatusNotImplemented {
		return false
	}
	switch {
	case used.counts && says("stream_options"):
		a.counts = false
	case used.limit == newLimit && says(newLimit):
		a.limit = oldLimit
	case used.format != byWords && says("response_format", "response format", "json_schema", "json mode", "mime type",
		"structured output"):
		a.format = max(a.format, used.format+1)
	case used.tools && says("tool", "function"):
		a.tools = false
	case !refused:
		return false // an error of the server that does not name a feature
	case used.format != byWords:
		a.format = max(a.format, used.format+1)
	case used.tools:
		a.tools = false
	case used.limit == newLimit:
		a.limit = oldLimit
	default:
		return false
	}
	return true
}
