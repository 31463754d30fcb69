package llm

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/strict"
)

// errorMessage finds the message in an error's body, whichever of the usual forms the server has.
func errorMessage(body []byte) string {
	var form struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  string          `json:"detail"`
	}
	if strict.Unmarshal(body, &form) != nil {
		return string(body)
	}
	var inner struct {
		Message string `json:"message"`
	}
	var text string
	switch {
	case json.Unmarshal(form.Error, &inner) == nil && inner.Message != "":
		return inner.Message
	case json.Unmarshal(form.Error, &text) == nil && text != "":
		return text
	case form.Message != "":
		return form.Message
	case form.Detail != "":
		return form.Detail
	}
	return string(body)
}

type chatPart struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning_content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []chatCall `json:"tool_calls"`
}

type chatChunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Delta        chatPart `json:"delta"`
		Message      chatPart `json:"message"` // of servers that do not stream
		FinishReason string   `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens        int `json:"prompt_tokens"`
		CompletionTokens    int `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens     int `json:"cached_tokens"`
			CacheWriteTokens int `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// gathered is an incomplete reply.
type gathered struct {
	Reply
	indexes []int // of the calls
	refusal string
	finish  string
	begun   bool // the model has begun to answer
}

// mostCalls bounds the tool calls of one reply; a loop runs at most 40.
const mostCalls = 128

// read reads a stream of chunks, or the single answer of a server that ignores "stream". With an error, the reply has
// what it has cost.
func (m *openAIModel) read(body io.Reader, r Request) (Reply, error) {
	g := gathered{Reply: Reply{Model: m.Model}}
	in := bufio.NewReaderSize(body, 64<<10)
	read := m.readEvents
	if first, err := in.Peek(1); err == nil && first[0] == '{' {
		read = m.readWhole
	}
	done, err := read(&g, in)
	if err == nil && !done && g.finish == "" {
		err = m.cutShort()
	}
	out := g.finished(r)
	switch {
	case err != nil && !g.begun:
		return Reply{}, err
	case err != nil:
		return out.cost(r), err
	}
	return out, nil
}

func (m *openAIModel) readWhole(g *gathered, in *bufio.Reader) (done bool, err error) {
	data, err := io.ReadAll(in)
	if err != nil {
		return false, err
	}
	if !json.Valid(data) {
		return false, m.cutShort()
	}
	return true, m.addChunk(g, data)
}

// doneMark ends a stream of chunks.
const doneMark = "[DONE]"

func (m *openAIModel) readEvents(g *gathered, in *bufio.Reader) (done bool, err error) {
	return m.events(in, func(data []byte) (bool, error) {
		if string(data) == doneMark {
			return true, nil
		}
		return false, m.addChunk(g, data)
	})
}

// addChunk adds a chunk to the reply.
func (m *openAIModel) addChunk(g *gathered, data []byte) error {
	var c chatChunk
	if err := strict.Unmarshal(data, &c); err != nil {
		return &Error{Kind: KindServer, Host: m.host, Message: "a chunk of the stream cannot be read"}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		e := &Error{Kind: KindServer, Host: m.host, Message: m.quote(errorMessage(data))}
		if isTooLong(http.StatusBadRequest, e.Message, data) {
			e.Kind = KindContext
		}
		return e
	}
	if c.Model != "" {
		g.Model = c.Model
	}
	if c.Usage != nil {
		g.Usage = precedent.Usage{
			Requests: 1, InputTokens: c.Usage.PromptTokens, CachedTokens: c.Usage.PromptTokensDetails.CachedTokens,
			CacheWriteTokens: c.Usage.PromptTokensDetails.CacheWriteTokens, OutputTokens: c.Usage.CompletionTokens,
		}
	}
	if len(c.Choices) == 0 {
		return nil
	}
	g.begun = true
	choice := c.Choices[0]
	g.Text += choice.Delta.Content + choice.Message.Content
	g.Reasoning += choice.Delta.Reasoning + choice.Message.Reasoning
	g.refusal += choice.Delta.Refusal + choice.Message.Refusal
	for _, call := range choice.Delta.ToolCalls {
		g.call(call)
	}
	for i, call := range choice.Message.ToolCalls {
		call.Index = i // only chunks of a stream have one
		g.call(call)
	}
	if choice.FinishReason != "" {
		g.finish = choice.FinishReason
	}
	return nil
}

// call adds a piece of a tool call: the first piece names it, the others continue its arguments. Some servers
// give all calls the same index and distinguish them only by id.
func (g *gathered) call(c chatCall) {
	at := -1
	for i, index := range g.indexes {
		if index == c.Index {
			at = i
		}
	}
	if at < 0 || (c.ID != "" && g.Calls[at].ID != "" && g.Calls[at].ID != c.ID) {
		if len(g.Calls) >= mostCalls {
			return
		}
		at = len(g.Calls)
		g.Calls, g.indexes = append(g.Calls, Call{ID: c.ID}), append(g.indexes, c.Index)
	}
	g.Calls[at].ID = cmp.Or(g.Calls[at].ID, c.ID)
	g.Calls[at].Name += c.Function.Name
	g.Calls[at].Args = append(g.Calls[at].Args, c.Function.Arguments...)
}

func (g *gathered) finished(r Request) Reply {
	for i := range g.Calls {
		g.Calls[i].ID = cmp.Or(g.Calls[i].ID, fmt.Sprintf("call_%d_%d", len(r.Turns), i))
		if len(g.Calls[i].Args) == 0 {
			g.Calls[i].Args = json.RawMessage("{}")
		}
	}
	g.Stop = StopEnd
	switch {
	case g.refusal != "" || g.finish == "content_filter":
		g.Stop, g.Text = StopRefusal, g.Text+g.refusal
	case len(g.Calls) > 0:
		g.Stop = StopTools
	case g.finish == "length":
		g.Stop = StopLength
	}
	if !counted(g.Usage) {
		g.Usage = estimate(r, g.Reply)
	}
	return g.Reply
}
