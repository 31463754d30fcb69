package wire

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/precedent-dev/precedent/internal/forge"
)

type (
	readsKey   struct{}
	keptKey    struct{}
	attemptKey struct{}
)

// Reads marks requests that only read, or can be repeated safely, whatever their
// method is: GraphQL queries are sent by POST.
func Reads(ctx context.Context) context.Context { return context.WithValue(ctx, readsKey{}, true) }

// Kept marks requests whose caller keeps what it made of the answer, and its ETag: the answer is
// not cached, and Not Modified (304) is returned. A list of pull requests of GitHub has 20 KB for
// each, of which little is kept.
func Kept(ctx context.Context) context.Context { return context.WithValue(ctx, keptKey{}, true) }

// Attempt records whether a call of a client library made a change. The libraries
// replace the errors of the transport with those of contexts and of JSON, which do
// not say so.
type Attempt struct {
	t *Transport

	mu      sync.Mutex
	applied bool // a request that makes a change was sent and not refused
	words   string
}

// Watch starts an Attempt. The call must use the returned context.
func (t *Transport) Watch(ctx context.Context) (context.Context, *Attempt) {
	a := &Attempt{t: t}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// attempt returns the request's Attempt, nil if there is none.
func (r request) attempt() *Attempt {
	a, _ := r.Context().Value(attemptKey{}).(*Attempt)
	return a
}

// noteSent records that a request is sent.
func (a *Attempt) noteSent(writes bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.applied, a.words = a.applied || writes, ""
}

// noteRefused records that the last request was certainly not carried out.
func (a *Attempt) noteRefused(writes bool, words string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.applied, a.words = a.applied && !writes, words
}

// Words returns the forge's message about the last refusal, on one line. It may be
// empty.
func (a *Attempt) Words() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.words
}

// Quote makes text of a response safe to repeat in an error.
func (a *Attempt) Quote(said string) string {
	return quote(said, a.t.rememberedTokens())
}

// Fail returns the error of the call, prefixed with what was attempted; nil if err is
// nil.
func (a *Attempt) Fail(doing string, err error) error {
	a.mu.Lock()
	unsure := a.applied
	a.mu.Unlock()
	return a.t.fail(doing, err, unsure)
}

// UnexpectedAnswer returns the error of a response that does not make sense.
func (a *Attempt) UnexpectedAnswer(doing, why string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return unexpectedAnswer(doing, why, a.applied)
}

// Fail returns the error of a call that only reads, prefixed with what was attempted;
// nil if err is nil.
func (t *Transport) Fail(doing string, err error) error { return t.fail(doing, err, false) }

func (t *Transport) fail(doing string, err error, unsure bool) error {
	if err == nil {
		return nil
	}
	var e *forge.Error
	if errors.As(err, &e) {
		said := *e // several requests may share one error
		said.Msg = doing + ": " + e.Msg
		return &said
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		said := t.canceledError(err, unsure)
		said.Msg = doing + ": " + said.Msg
		return said
	}
	return unexpectedAnswer(doing, "it does not match the API of "+t.o.Forge, unsure)
}

// UnexpectedAnswer returns the error of a response that does not make sense, to a
// call that only reads.
func UnexpectedAnswer(doing, why string) error { return unexpectedAnswer(doing, why, false) }

func unexpectedAnswer(doing, why string, unsure bool) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: doing + ": unexpected response: " + why, Unsure: unsure}
}

// canceledError returns the error for a caller that stopped waiting.
func (t *Transport) canceledError(err error, unsure bool) *forge.Error {
	return &forge.Error{Kind: forge.KindNetwork, Msg: "canceled while waiting for " + t.o.Forge, Err: err, Unsure: unsure}
}

// Gone reports whether the forge says that something does not exist, or no longer
// does.
func Gone(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusGone)
}
