package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// The limits of retries, chosen so as not to overload a provider in trouble (full jitter
// after Amazon's "Exponential Backoff And Jitter").
const (
	maxTries        = 4               // of one request
	maxTimeoutTries = 2               // a request that timed out is tried once more
	firstBackoff    = 2 * time.Second // doubles with each try
	maxBackoff      = 60 * time.Second
	maxRetryAfter   = 15 * time.Minute // a server that asks for more is not asked again
)

// Waiting is what retries need from outside.
type Waiting struct {
	Sleep func(ctx context.Context, d time.Duration) error
	// Rand returns a number in [0, n), n > 0.
	Rand func(n time.Duration) time.Duration
}

// RealWaiting waits in real time.
func RealWaiting() Waiting {
	return Waiting{Sleep: sleep, Rand: func(n time.Duration) time.Duration { return rand.N(n) }}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type reliable struct {
	Model
	w Waiting
}

// Reliable retries requests that may succeed the next time, and waits as long as the
// server asks.
func Reliable(m Model, w Waiting) Model { return &reliable{Model: m, w: w} }

func (r *reliable) Send(ctx context.Context, req Request) (Reply, error) {
	for try := 1; ; try++ {
		reply, err := r.Model.Send(ctx, req)
		var e *Error
		if err == nil || !errors.As(err, &e) {
			return reply, err // done, cancelled, or our own defect: not an error of the server
		}
		wait, again := r.backoff(e, try)
		if !again {
			return Reply{}, err
		}
		if err := r.w.Sleep(ctx, wait); err != nil {
			return Reply{}, err
		}
	}
}

// backoff returns how long to wait before the next try, and whether there is one.
func (r *reliable) backoff(e *Error, try int) (time.Duration, bool) {
	tries := maxTries
	switch e.Kind {
	case KindAuth, KindRequest, KindContext, KindTooLarge:
		return 0, false
	case KindTimeout:
		tries = maxTimeoutTries
	}
	if try >= tries || e.RetryAfter > maxRetryAfter {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	top := min(firstBackoff<<(try-1), maxBackoff)
	return r.w.Rand(top) + time.Millisecond, true
}

type failover struct {
	models []Model
}

// Failover sends to the first model, and to the next one when it fails for a
// reason other than the request itself; a context window that is too small is
// the model's. The first names the whole.
func Failover(models ...Model) Model {
	if len(models) == 1 {
		return models[0]
	}
	return &failover{models: models}
}

func (f *failover) Name() string { return f.models[0].Name() }
func (f *failover) Host() string { return f.models[0].Host() }

func (f *failover) Send(ctx context.Context, r Request) (Reply, error) {
	var all []error
	for _, m := range f.models {
		reply, err := m.Send(ctx, r)
		var e *Error
		if err == nil || !errors.As(err, &e) || e.Kind == KindRequest {
			return reply, err
		}
		all = append(all, err)
	}
	return Reply{}, errors.Join(all...)
}
