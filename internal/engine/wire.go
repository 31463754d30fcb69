package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// RequestSchema names the version of the request to a program.
const RequestSchema = "precedent.task/1"

// Request is what an engine program reads from its standard input: one JSON object,
// then the end of the input.
type Request struct {
	Schema       string          `json:"schema"` // RequestSchema
	Role         Role            `json:"role"`
	Name         string          `json:"name"`
	System       string          `json:"system"`
	Prompt       string          `json:"prompt"`
	AnswerSchema json.RawMessage `json:"answer_schema"`
	TreeDir      string          `json:"tree_dir"` // read-only export of the head; empty if there is none
	// Edit asks the program to change the files below TreeDir, which is then a private, writable
	// copy. A program that does not know it changes nothing.
	Edit       bool   `json:"edit,omitempty"`
	BaseDir    string `json:"base_dir"`    // the same of the base, for a verifier
	DeadlineMS int64  `json:"deadline_ms"` // milliseconds left for the answer
}

// NewRequest returns the request for a task with the given time left.
func NewRequest(t Task, left time.Duration) Request {
	return Request{
		Schema: RequestSchema, Role: t.Role, Name: t.Name, System: t.System, Prompt: t.User(), AnswerSchema: t.Schema,
		TreeDir: t.Tree, Edit: t.Edit, BaseDir: t.BaseTree, DeadlineMS: max(left.Milliseconds(), 1),
	}
}

// ReadResponse reads what a program wrote to its standard output: one JSON object, which Repair may have to find, with
// the answer as JSON or as what a model wrote, and optionally with usage (the fields of precedent.Usage and cost_usd),
// refused and model. Unknown fields are ignored; invalid known fields make it malformed, except usage and model, which
// are omitted instead.
func ReadResponse(output []byte) Reply {
	malformed := func(format string, args ...any) Reply {
		return Reply{Status: precedent.StatusMalformed, Message: fmt.Sprintf(format, args...)}
	}
	object, err := Repair(output)
	if err != nil {
		return malformed("the program's output is not a valid response: %v", err)
	}
	var fields map[string]json.RawMessage // a map's keys are exact, a struct's match in any case
	if err := json.Unmarshal(object, &fields); err != nil {
		return malformed("the program's output is not a JSON object")
	}
	r := Reply{Status: precedent.StatusOK}
	r.Usage, r.CostUSD = readUsage(fields["usage"])
	if model, ok := asString(fields["model"]); ok {
		r.Model = model
	}
	var refused bool
	if raw, ok := fields["refused"]; ok {
		if err := json.Unmarshal(raw, &refused); err != nil {
			r.Status, r.Message = precedent.StatusMalformed, `"refused" in the program's output is neither true nor false`
			return r
		}
	}
	answer := fields["answer"]
	switch {
	case refused:
		r.Status, r.Message = precedent.StatusRefused, "the program says that the task was refused"
	case len(answer) == 0 || string(answer) == "null":
		r.Status, r.Message = precedent.StatusMalformed, `the program's output has no "answer"`
	default:
		r.Output = answer
		if text, ok := asString(answer); ok {
			r.Output = []byte(text)
		}
	}
	return r
}

func asString(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// readUsage reads the usage that a program reports, and ignores impossible values,
// which would spoil the sums and the budget of the whole review.
func readUsage(raw json.RawMessage) (u precedent.Usage, costUSD float64) {
	const (
		mostRequests = 1_000 // an agent's turns on one task
		mostTokens   = 100_000_000
		mostUSD      = 1_000
	)
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return u, 0
	}
	number := func(name string, most float64) float64 {
		var f float64
		if json.Unmarshal(fields[name], &f) != nil || f < 0 || f > most {
			return 0
		}
		return f
	}
	u.Requests = int(number("requests", mostRequests))
	u.InputTokens = int(number("input_tokens", mostTokens))
	u.CachedTokens = min(int(number("cached_tokens", mostTokens)), u.InputTokens)
	u.CacheWriteTokens = min(int(number("cache_write_tokens", mostTokens)), u.InputTokens)
	u.OutputTokens = int(number("output_tokens", mostTokens))
	return u, number("cost_usd", mostUSD)
}
