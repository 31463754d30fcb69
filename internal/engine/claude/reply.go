package claude

import (
	"encoding/json"
	"strings"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/llm"
	"github.com/precedent-dev/precedent/internal/text"
)

// mostWords limits what a message quotes of the CLI, in characters.
const mostWords = 300

// account is what a session has said so far.
type account struct {
	reply engine.Reply // its status is empty until the session has said how it ended
	said  map[string]*utterance
	last  string // the message that is being written
}

// utterance is the state of one of the model's messages.
type utterance struct {
	model   string
	usage   usage
	calls   bool // it calls a tool
	answers bool // the call is the answer; prose without a call is an answer, too
}

func (a *account) add(v event) {
	switch {
	case v.Type == "assistant" && v.Message.Model != synthetic:
		a.hear(v.Message)
	case v.Type == "stream_event" && v.Event.Type == "message_start":
		a.last = v.Event.Message.ID
		a.hear(v.Event.Message)
	case v.Type == "stream_event" && v.Event.Type == "message_delta" && a.last != "":
		a.said[a.last].usage.Output = v.Event.Usage.Output
	case v.Type == "result":
		a.reply.Status, a.reply.Message, a.reply.Output = v.end()
		a.reply.CostUSD, a.reply.Usage = max(v.CostUSD, 0), v.totalUsage()
	}
}

func (a *account) hear(m message) {
	if a.said == nil {
		a.said = map[string]*utterance{}
	}
	if a.said[m.ID] == nil {
		a.said[m.ID] = &utterance{}
	}
	u := a.said[m.ID]
	u.model, u.usage, a.reply.Model = m.Model, m.Usage, m.Model
	var content []piece
	if json.Unmarshal(m.Content, &content) != nil {
		return
	}
	for _, p := range content {
		u.calls = u.calls || p.Type == "tool_use"
		u.answers = u.answers || p.Type == "tool_use" && p.Name == answerTool
	}
}

// total returns the reply of the session. If that has not said what it cost, the reply has the usage so far, at the
// list price of each model.
func (a *account) total() engine.Reply {
	r := a.reply
	prices := llm.ListPrices()
	for _, u := range a.said {
		if r.Status == "" {
			price, _ := prices.Find(u.model)
			r.Usage.Add(u.usage.precedent())
			r.CostUSD += price.Cost(u.usage.precedent())
		}
		if u.answers || !u.calls {
			r.Attempts++
		}
	}
	r.Usage.Requests = len(a.said)
	return r
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
	said := text.Cut(text.Collapse(strings.Join(append(v.Errors, v.Result), " ")), mostWords)
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
		kind := strings.TrimPrefix(v.Subtype+": ", "success: ")
		return precedent.StatusError, strings.TrimSuffix("Claude Code: "+kind+said, ": "), nil
	case len(v.Structured) > 0 && string(v.Structured) != "null":
		return precedent.StatusOK, "", v.Structured
	}
	return precedent.StatusOK, "", []byte(v.Result) // prose, or the answer among it
}
