// Package llm sends requests to language models: single requests and tool loops, with retries, and for the
// vectors of texts. It knows nothing about reviews. It supports Anthropic's Messages API, and every server
// that is compatible with OpenAI's chat completions or embeddings, through one client.
//
// A key is only sent to the configured host: there are no environment defaults, no
// redirects to other hosts, and no keys in errors.
package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// Model sends one request to a model and returns its reply. Errors of the provider are
// an *Error; the reply then has only what it has cost. Implementations are safe for concurrent use.
type Model interface {
	Name() string // as the provider spells it
	Host() string // where requests go
	Send(ctx context.Context, r Request) (Reply, error)
}

// Request is one request. Everything up to the end of Prefix is the same for
// all requests of a review, so that the provider can cache it.
type Request struct {
	System string
	Common string // the beginning of the user's message, shared by all requests
	Prefix string // what follows, shared by the requests about one part
	Prompt string // this request's own part
	Turns  []Turn // the tool calls made so far
	Tools  []Tool
	// NoCalls asks for an answer without further tool calls. The tools stay in the
	// request, because the provider's cache starts with them.
	NoCalls bool
	// Schema is the JSON Schema of the answer. For a model that cannot enforce it, it is
	// part of the text. The caller checks whether the answer satisfies it.
	Schema    json.RawMessage
	MaxTokens int // of the reply; 0 means DefaultMaxTokens
	// FirstByte is called at most once, when the first byte of the reply arrives: from
	// then on the prefix can be read from the cache.
	FirstByte func()
}

// DefaultMaxTokens bounds a reply: a finder's answer of 30 findings fits in.
const DefaultMaxTokens = 16_000

// Tool is something that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	// Run runs the tool. The model gets its error, not the caller.
	Run func(ctx context.Context, args json.RawMessage) (string, error)
}

// Call is a tool call that a model asks for.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
}

// sent returns the arguments as they are sent back: servers take nothing but an object. If they are none, the result
// of the call says so.
func (c Call) sent() json.RawMessage {
	if !json.Valid(c.Args) || !bytes.HasPrefix(bytes.TrimSpace(c.Args), []byte("{")) {
		return json.RawMessage("{}")
	}
	return c.Args
}

// Result is the result of a call.
type Result struct {
	ID    string
	Text  string
	Error bool
}

// Turn is one round of the tool loop: what the model wrote and called, and the result of each call.
type Turn struct {
	Text string
	// Reasoning is the model's reasoning, if a compatible server returned it; some
	// servers require it in the next request.
	Reasoning string
	Calls     []Call
	Results   []Result
}

// Stop says why a reply ended.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"
	StopTools   Stop = "tools"  // it waits for the results of Reply.Calls
	StopLength  Stop = "length" // out of tokens, context window, or calls
	StopRefusal Stop = "refusal"
)

// Reply is what a model answered.
type Reply struct {
	Text      string
	Reasoning string // see Turn
	Calls     []Call
	Stop      Stop
	Usage     precedent.Usage // an estimate if the server did not count tokens
	Model     string          // as the server named it
}

// cost returns what is left of a reply to a request that breaks off: who had it written pays for it.
func (r Reply) cost(asked Request) Reply {
	r.Usage.OutputTokens = max(r.Usage.OutputTokens, estimate(asked, r).OutputTokens)
	return Reply{Usage: r.Usage, Model: r.Model}
}

// Kind is the kind of a provider's error.
type Kind string

// The kinds.
const (
	KindAuth       Kind = "auth"       // 401, 403: the key is wrong
	KindQuota      Kind = "quota"      // the account has no money left: waiting does not help
	KindRate       Kind = "rate"       // 429
	KindOverloaded Kind = "overloaded" // 529, 503
	KindServer     Kind = "server"     // other 5xx, and streams cut short
	KindTimeout    Kind = "timeout"    // no data arrived in time
	KindNetwork    Kind = "network"
	KindTooLarge   Kind = "too-large" // the reply is too long; the rest was not read
	KindRequest    Kind = "request"   // other 4xx: sending it again does not help
	KindContext    Kind = "context"   // the request does not fit into the model's context window
	KindVector     Kind = "vector"    // the reply to a request for vectors is none that can be used
)

// Error is a request that failed. Its text never holds a key.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 without one
	RetryAfter time.Duration // what the server asked for; 0 if nothing
	Message    string
	Host       string

	unreached bool // no connection was made
	unfit     bool // with KindVector: other texts may have a vector that can be used
}

// Error says what happened and where.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s answered %d: %s", e.Host, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Host, e.Message)
}

// Secret is a key. It prints as a placeholder whatever the verb.
type Secret string

// Format prints a placeholder.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[key]")) }

// MarshalText writes a placeholder, so that no encoder leaks the key.
func (s Secret) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// charsPerToken is how many characters a token of code has: 3.1 in the patches of AACR-Bench's pull requests,
// and four in prose. Estimates are checked against bounds, so they are rather too high than too low.
const charsPerToken = 3

// expectedOutput is the usual size of a finder's answer, in tokens.
const expectedOutput = 1_500

// Expect estimates the usage of a request before it is sent: without cache, and with
// an answer of usual length.
func Expect(r Request) precedent.Usage {
	in := len(r.System) + len(r.Common) + len(r.Prefix) + len(r.Prompt) + len(r.Schema)
	for _, t := range r.Tools {
		in += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, t := range r.Turns {
		in += len(t.Text) + len(t.Reasoning)
		for _, c := range t.Calls {
			in += len(c.Args)
		}
		for _, res := range t.Results {
			in += len(res.Text)
		}
	}
	return precedent.Usage{Requests: 1, InputTokens: in / charsPerToken, OutputTokens: expectedOutput}
}

// mostTokens is more than any request uses. It bounds what a server can book with one wrong number.
const mostTokens = 20_000_000

// counted tells whether a usage is what a server may have counted. Some count nothing, or give placeholders.
func counted(u precedent.Usage) bool {
	return u.InputTokens > 0 && u.InputTokens <= mostTokens && u.OutputTokens >= 0 && u.OutputTokens <= mostTokens &&
		min(u.CachedTokens, u.CacheWriteTokens) >= 0 && u.CachedTokens+u.CacheWriteTokens <= u.InputTokens
}

// estimate estimates the usage of a request whose server did not count.
func estimate(r Request, reply Reply) precedent.Usage {
	u := Expect(r)
	u.OutputTokens = min(len(reply.Text)/charsPerToken, cmp.Or(r.MaxTokens, DefaultMaxTokens))
	return u
}
