// Package llmtest has scripted servers of the two model APIs: Anthropic's Messages and
// OpenAI's chat completions. A handler returns the replies. The server records the
// requests, rejects what the real server rejects, and accounts for its prompt cache
// as the real one does, so that tests can measure what a review costs.
package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/precedent-dev/precedent"
)

// Request is a parsed request.
type Request struct {
	N          int // from 0, in the order of arrival
	Model      string
	System     string
	User       []Block // of the first message
	Turns      []Turn  // of the tool loop so far
	Tools      []string
	ToolChoice string          // empty, "auto" or "none"
	Format     string          // of the answer: empty, "json_object" or "json_schema"
	Schema     json.RawMessage // of the answer; nil without one
	MaxTokens  int             // 0 if the request does not say
	Header     http.Header
	Body       []byte
}

// Prompt is the whole text of the first message.
func (r Request) Prompt() string {
	var b strings.Builder
	for _, block := range r.User {
		b.WriteString(block.Text)
	}
	return b.String()
}

// Block is a block of text. Breakpoint tells whether the prompt up to its end is to be cached.
type Block struct {
	Text       string
	Breakpoint bool
}

// Turn is one round of the tool loop.
type Turn struct {
	Text      string
	Reasoning string // OpenAI only
	Calls     []Call
	Results   []Result
}

// Call is a tool call.
type Call struct {
	ID   string
	Name string
	Args string // JSON
}

// Result is the result of a tool call.
type Result struct {
	ID         string
	Text       string
	Error      bool
	Breakpoint bool
}

// Reply is the answer to a request. Its zero value is an empty text.
type Reply struct {
	Text      string
	Reasoning string // OpenAI only
	Calls     []Call
	Refusal   string // the model would not, and says so
	// Stop is the reason in the provider's own words; empty means the one that fits the rest.
	Stop    string
	Model   string           // which model is said to have answered; empty means the one that was asked
	Usage   *precedent.Usage // instead of what the server accounts for
	Uncount bool             // the server says nothing of usage

	// Status other than 0 and 200 is an error, with Message in the provider's
	// form. Body is sent as it stands, with any status. Headers go with any reply.
	Status  int
	Header  http.Header
	Message string
	Body    string

	// Broken is an error within the stream, after its first event: the type of
	// Anthropic's, the message of OpenAI's.
	Broken string
	Cut    int  // if positive, the body ends in order after so many bytes
	Torn   bool // with Cut: the connection breaks there
	Whole  bool // OpenAI only: one JSON object even if a stream was asked for
	Drip   bool // after its first event the stream never has another whole one
	Flood  bool // the text is repeated without end

	// Hold, if not nil, keeps the reply back until it is closed, Pause what
	// follows the first event of a stream. Never is one that nobody closes.
	Hold, Pause <-chan struct{}
}

// Never is for replies that are not sent: the client has to give up.
var Never = make(chan struct{})

// Handler returns the reply to a request. It is called concurrently.
type Handler func(Request) Reply

// Script answers the nth request with the nth reply, and later ones with the last.
func Script(replies ...Reply) Handler {
	return func(r Request) Reply { return replies[min(r.N, len(replies)-1)] }
}
