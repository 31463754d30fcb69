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
	attemptKey struct{}
)

// Reads marks requests that only read, or may be repeated at will, whatever their
// method is: a query by POST.
func Reads(ctx context.Context) context.Context { return context.WithValue(ctx, readsKey{}, true) }

// Attempt is what became of one call of a client library. The libraries replace
// the errors of requests by those of contexts and of JSON, which do not tell
// whether something was changed.
type Attempt struct {
	t *Transport

	mu      sync.Mutex
	applied bool // a request that changes something was sent, and not refused
	words   string
}

// Watch begins one call: the client is to use the context.
func (t *Transport) Watch(ctx context.Context) (context.Context, *Attempt) {
	a := &Attempt{t: t}
	return context.WithValue(ctx, attemptKey{}, a), a
}

// attempt is that of the request; nil if nobody watches.
func (r request) attempt() *Attempt {
	a, _ := r.Context().Value(attemptKey{}).(*Attempt)
	return a
}

// noteSent notes that a request is sent.
func (a *Attempt) noteSent(writes bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.applied, a.words = a.applied || writes, ""
}

// noteRefused notes that what was sent last was certainly not carried out.
func (a *Attempt) noteRefused(writes bool, words string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.applied, a.words = a.applied && !writes, words
}

// Words are the forge's own about the last refusal, on one line; empty if it gave
// none.
func (a *Attempt) Words() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.words
}

// Quote is something that the forge said in an answer, as an error may repeat it.
func (a *Attempt) Quote(said string) string {
	return quote(said, a.t.rememberedTokens())
}

// Fail is the error of the call: what was to be done, and what came of it.
func (a *Attempt) Fail(doing string, err error) error {
	a.mu.Lock()
	unsure := a.applied
	a.mu.Unlock()
	return a.t.fail(doing, err, unsure)
}

// UnexpectedAnswer is the error of an answer that cannot be understood.
func (a *Attempt) UnexpectedAnswer(doing, why string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return unexpectedAnswer(doing, why, a.applied)
}

// Fail is the error of a call that only reads: what was to be done, and what came
// of it.
func (t *Transport) Fail(doing string, err error) error { return t.fail(doing, err, false) }

func (t *Transport) fail(doing string, err error, unsure bool) error {
	if err == nil {
		return nil
	}
	var e *forge.Error
	if errors.As(err, &e) {
		said := *e // one error may be several requests'
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

// UnexpectedAnswer is the error of an answer to a reading call that cannot be understood.
func UnexpectedAnswer(doing, why string) error { return unexpectedAnswer(doing, why, false) }

func unexpectedAnswer(doing, why string, unsure bool) error {
	return &forge.Error{Kind: forge.KindAnswer, Msg: doing + ": unexpected response: " + why, Unsure: unsure}
}

// canceledError is the error of a caller who has stopped waiting.
func (t *Transport) canceledError(err error, unsure bool) *forge.Error {
	return &forge.Error{Kind: forge.KindNetwork, Msg: "canceled while waiting for " + t.o.Forge, Err: err, Unsure: unsure}
}

// Gone tells whether the forge says that there is no such thing, or not any more.
func Gone(err error) bool {
	var e *forge.Error
	return errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status == http.StatusGone)
}
