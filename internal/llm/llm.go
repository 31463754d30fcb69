// Package llm sends requests to language models: one request, one tool loop,
// and what makes both reliable. It knows nothing of reviews. Two kinds of
// providers are spoken to: Anthropic's API through its official SDK, and every
// server that is compatible with OpenAI's chat completions.
//
// A key goes to the host that the configuration names and nowhere else: no
// environment defaults, no redirects to another host, no key in an error.
package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// Model sends one request to a model and returns its reply. Trouble of the far
// side is an *Error. Implementations are safe for concurrent use.
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
	Prefix string // what follows, shared by those about one part of the matter
	Prompt string // this request's own part
	Turns  []Turn // the tool calls made so far
	Tools  []Tool
	// NoCalls asks for an answer without further tool calls. The tools stay, for
	// what a provider caches begins with them.
	NoCalls bool
	// Schema is the JSON Schema of the answer. A model that cannot be held to
	// it is asked in words; whether the text fits is for the caller to check.
	Schema    json.RawMessage
	MaxTokens int // of the reply; 0 means DefaultMaxTokens
	// FirstByte is called at most once, when the first byte of the reply is
	// here: from then on the prefix can be read from the cache.
	FirstByte func()
}

// DefaultMaxTokens bounds a reply: a finder's answer of 30 findings fits in.
const DefaultMaxTokens = 16_000

// Tool is something that the model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	// Run does it. Its error is told to the model, not to the caller.
	Run func(ctx context.Context, args json.RawMessage) (string, error)
}

// Call is a tool call that a model asks for.
type Call struct {
	ID   string
	Name string
	Args json.RawMessage
}

// Result is what became of a call.
type Result struct {
	ID    string
	Text  string
	Error bool
}

// Turn is one round of the tool loop: what the model said and called, and what
// came of each call.
type Turn struct {
	Text string
	// Reasoning is what a compatible server showed of the model's thoughts; some
	// refuse to go on without it.
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
	Usage     precedent.Usage
	Model     string // as the server named it
	// Estimated tells that the server did not count the tokens and Usage is a guess from lengths.
	Estimated bool
}

// Kind sorts the trouble that a provider can make.
type Kind string

// The kinds.
const (
	KindAuth       Kind = "auth"       // 401, 403: the key is wrong
	KindRate       Kind = "rate"       // 429
	KindOverloaded Kind = "overloaded" // 529, 503
	KindServer     Kind = "server"     // other 5xx, and streams cut short
	KindTimeout    Kind = "timeout"    // nothing came for too long
	KindNetwork    Kind = "network"
	KindTooLarge   Kind = "too-large" // the reply does not end; it was not read on
	KindRequest    Kind = "request"   // other 4xx: it will not be taken however often it is sent
	KindContext    Kind = "context"   // the request does not fit into the model's context window
)

// Error is a request that failed. Its text never holds a key.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 without one
	RetryAfter time.Duration // what the server asked for, 0 without
	Window     int           // of KindContext: the window's tokens, 0 if the server does not tell
	Message    string
	Host       string
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

// charsPerToken is how many characters a token of code has: 3.1 on the patches of
// AACR-Bench's pull requests, while prose has four. A guess goes before a bound, so
// it is taken too high rather than too low.
const charsPerToken = 3

// expectedOutput is what a finder's answer usually takes, in tokens.
const expectedOutput = 1_500

// Expect guesses what a request will take, before it is sent: nothing from the
// cache, and an answer of usual length.
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

// estimate guesses the usage of an exchange whose server did not count.
func estimate(r Request, reply Reply) precedent.Usage {
	u := Expect(r)
	u.OutputTokens = len(reply.Text) / charsPerToken
	return u
}
