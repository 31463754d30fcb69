package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
)

// read returns the reply of a whole stream; its status is empty if there is not a
// result. An incomplete stream still has the usage so far.
func read(stream []byte) engine.Reply {
	var r engine.Reply
	var last string // the message that is being written
	said := map[string]*utterance{}
	of := func(id string) *utterance { // a new one at the first line of its message
		if said[id] == nil {
			said[id] = &utterance{}
		}
		return said[id]
	}
	for line := range bytes.Lines(stream) {
		v, ok := parse(line)
		switch {
		case ok && v.Type == "assistant" && v.Message.Model != synthetic:
			of(v.Message.ID).add(v.Message)
			r.Model = shorten(v.Message.Model)
		case ok && v.Type == "stream_event" && v.Event.Type == "message_start":
			last, r.Model = v.Event.Message.ID, shorten(v.Event.Message.Model)
			of(last).add(v.Event.Message)
		case ok && v.Type == "stream_event" && v.Event.Type == "message_delta" && last != "":
			of(last).usage.Output = v.Event.Usage.Output
		case ok && v.Type == "result":
			r.Status, r.Message, r.Output = v.end()
			r.CostUSD, r.Usage = max(v.CostUSD, 0), v.totalUsage()
		}
	}
	for _, u := range said {
		if r.Status == "" {
			r.Usage.Add(u.usage.precedent())
		}
		if u.answers || !u.calls {
			r.Attempts++
		}
	}
	if r.Status == "" { // it did not come to say what it cost
		price, _ := llm.ListPrices().Find(r.Model)
		r.CostUSD = price.Cost(r.Usage)
	}
	r.Usage.Requests = len(said)
	return r
}

// utterance is the state of one of the model's messages.
type utterance struct {
	usage   usage
	calls   bool // it calls a tool
	answers bool // the call is the answer; prose without a call is an answer, too
}

func (u *utterance) add(m message) {
	u.usage = m.Usage
	var content []piece
	if json.Unmarshal(m.Content, &content) != nil {
		return
	}
	for _, p := range content {
		u.calls = u.calls || p.Type == "tool_use"
		u.answers = u.answers || p.Type == "tool_use" && p.Name == answerTool
	}
}

// totalUsage returns what the session used, by all its models if it says so.
func (v event) totalUsage() precedent.Usage {
	if len(v.ModelUsage) == 0 {
		return v.Usage.precedent()
	}
	var sum precedent.Usage
	for _, m := range v.ModelUsage {
		sum.Add(usage(m).precedent())
	}
	return sum
}

// end returns how the session ended. is_error counts, not the subtype: an error of the
// API has the subtype success.
func (v event) end() (precedent.Status, string, []byte) {
	said := shorten(strings.Join(append(v.Errors, v.Result), " "))
	switch {
	case v.StopReason == "refusal":
		return precedent.StatusRefused, "the model refused", nil
	case v.Subtype == "error_max_turns":
		return precedent.StatusTruncated, "the model used up its turns before it answered", nil
	case v.Subtype == "error_max_budget_usd":
		return precedent.StatusOverBudget, "the session used up the remaining budget", nil
	case v.Subtype == "error_max_structured_output_retries":
		return precedent.StatusMalformed, "the answer does not satisfy the schema", nil
	case v.APIStatus == 401 || v.APIStatus == 403:
		return precedent.StatusError, said + "; check the key", nil
	case v.StopReason == "max_tokens", v.IsError && strings.Contains(v.Result, "output token maximum"):
		return precedent.StatusTruncated, "the answer exceeds the output limit of the model", nil
	case v.IsError && v.APIStatus == 0 && strings.Contains(v.Result, "Prompt is too long"):
		return precedent.StatusTruncated, "the prompt is too long for the model", nil
	case v.IsError || v.Subtype != "success":
		return precedent.StatusError, "Claude Code: " + prefixed(v.Subtype+": ", said), nil
	case len(v.Structured) > 0 && string(v.Structured) != "null":
		return precedent.StatusOK, "", v.Structured
	}
	return precedent.StatusOK, "", []byte(v.Result) // prose, or the answer among it
}

// shorten cuts a text for a message.
func shorten(text string) string {
	const most = 300 // characters
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
