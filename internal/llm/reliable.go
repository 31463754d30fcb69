package llm

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
)

// The limits of retries, chosen so as not to overload a provider in trouble.
const (
	maxTries        = 4 // of one request
	maxTimeoutTries = 2 // a request that timed out is tried once more
	// overloadTries is how often a request is sent to a server that is overloaded: for up to three minutes,
	// within the time that the request has. If there is another model, it is maxTries.
	overloadTries = 8
	maxBackoff    = 60 * time.Second
	maxRetryAfter = 15 * time.Minute // a server that asks for more is not asked again
)

var waits = backoff.Policy{First: 2 * time.Second, Max: maxBackoff}

// Waiting is what retries need from outside.
type Waiting = backoff.Clock

// RealWaiting waits in real time.
func RealWaiting() Waiting { return backoff.RealClock() }

// retries sends requests to one server again.
type retries struct {
	w     Waiting
	tries int // of one request, if the server is overloaded

	// All requests wait until an overloaded server is to be asked again.
	mu    sync.Mutex
	until time.Time
	set   time.Time // when until was set
	round int       // how often it was set since the last reply
	why   *Error    // what the server said
	// reached says that a connection was made once.
	reached bool
}

type reliable struct {
	Model
	retries
}

func (r *reliable) Send(ctx context.Context, req Request) (Reply, error) {
	var reply Reply
	var spent precedent.Usage // of all tries
	err := r.do(ctx, func() (err error) {
		reply, err = r.Model.Send(ctx, req)
		spent.Add(reply.Usage)
		return err
	})
	reply.Usage = spent
	return reply, err
}

// do calls send until it succeeds or is not to be called again.
func (r *retries) do(ctx context.Context, send func() error) error {
	var sent time.Time
	return backoff.Do(ctx, r.w, func() error {
		if err := r.await(ctx); err != nil {
			return backoff.Final(err)
		}
		sent = r.w.Now()
		err := send()
		if err == nil {
			r.answered()
		}
		return err
	}, func(err error, failures int) (time.Duration, bool) {
		e, ok := errors.AsType[*Error](err)
		switch {
		case !ok: // cancelled, or our own defect: not an error of the server
			return 0, false
		case !r.again(e, failures):
			return 0, false
		case e.Kind == KindRate || e.Kind == KindOverloaded:
			r.pause(e, sent)
			return 0, true // await waits
		case e.RetryAfter > 0:
			return e.RetryAfter, true
		}
		return r.backoff(failures), true
	})
}

// again reports whether a request is sent once more. A server that was never reached is not running, or its
// address is wrong: waiting does not help.
func (r *retries) again(e *Error, try int) bool {
	r.mu.Lock()
	r.reached = r.reached || !e.unreached
	reached := r.reached
	r.mu.Unlock()
	if !reached {
		return false
	}
	tries := maxTries
	switch e.Kind {
	case KindAuth, KindQuota, KindRequest, KindContext, KindTooLarge, KindVector:
		return false
	case KindTimeout:
		tries = maxTimeoutTries
	case KindRate, KindOverloaded:
		tries = r.tries
	}
	return try < tries && e.RetryAfter <= maxRetryAfter
}

// backoff returns the random wait after the given number of tries.
func (r *retries) backoff(tries int) time.Duration {
	return waits.Wait(r.w, tries) + time.Millisecond
}

// await blocks as long as the server is to be left alone.
func (r *retries) await(ctx context.Context) error {
	for {
		r.mu.Lock()
		until, why := r.until, r.why
		r.mu.Unlock()
		wait := until.Sub(r.w.Now())
		if wait <= 0 {
			return nil
		}
		if backoff.Late(ctx, until) {
			return why
		}
		if err := r.w.Sleep(ctx, wait); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return why
			}
			return err
		}
	}
}

// pause makes all requests wait, because the server refused one that was sent at the
// given time. If others were refused together with it, the wait is that of the first.
func (r *retries) pause(e *Error, sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.w.Now()
	wait := e.RetryAfter
	if wait == 0 {
		if sent.Before(r.set) {
			return
		}
		r.round++
		wait = r.backoff(r.round)
	}
	if until := now.Add(wait); until.After(r.until) {
		r.until, r.set, r.why = until, now, e
	}
}

// answered records that the server is well.
func (r *retries) answered() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round, r.reached = 0, true
}

type failover struct {
	models []*reliable
	w      Waiting

	mu   sync.Mutex
	down []outage // by model
}

// outage is when a model is tried again, and why it failed.
type outage struct {
	until time.Time
	why   error
}

// Reliable retries requests that may succeed the next time, and waits as long as the server asks. When the server is
// overloaded, all requests share one back-off. A request whose wait would exceed its deadline fails at once, with the
// server's reason.
//
// Of several models it sends to the first, and to the next one when it fails for a reason other than the request
// itself; a context window that is too small is the model's, and so is a name that the server does not know. A model
// that failed is left out for as long as a back-off takes, so that not every request has to find out. The first names
// the whole.
func Reliable(w Waiting, models ...Model) Model {
	f := &failover{w: w, down: make([]outage, len(models))}
	for _, m := range models {
		f.models = append(f.models, &reliable{Model: m, retries: retries{w: w, tries: maxTries}})
	}
	last := f.models[len(models)-1]
	if last.tries = overloadTries; len(models) == 1 {
		return last
	}
	return f
}

func (f *failover) Name() string { return f.models[0].Name() }
func (f *failover) Host() string { return f.models[0].Host() }

func (f *failover) Send(ctx context.Context, r Request) (Reply, error) {
	var all []error
	var spent precedent.Usage // of the models that failed
	for i, m := range f.models {
		if why := f.outageOf(i); why != nil && i < len(f.models)-1 {
			all = append(all, why)
			continue
		}
		reply, err := m.Send(ctx, r)
		reply.Usage.Add(spent)
		var e *Error
		if err == nil || !errors.As(err, &e) || e.Kind == KindRequest && e.Status != http.StatusNotFound {
			return reply, err
		}
		spent = reply.Usage
		f.fail(i, e)
		all = append(all, err)
	}
	return Reply{Usage: spent}, errors.Join(all...)
}

// outageOf returns why a model is left out; nil if it is not.
func (f *failover) outageOf(i int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.w.Now().Before(f.down[i].until) {
		return f.down[i].why
	}
	return nil
}

// fail records that a model failed, unless it was because of the request's size.
func (f *failover) fail(i int, e *Error) {
	wait := max(maxBackoff, min(e.RetryAfter, maxRetryAfter))
	switch e.Kind {
	case KindContext, KindTooLarge:
		return
	case KindAuth, KindQuota, KindRequest: // a wrong key or name stays wrong
		wait = maxRetryAfter
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down[i] = outage{f.w.Now().Add(wait), e}
}
