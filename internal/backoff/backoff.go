// Package backoff sends requests again, and says how long to wait before.
package backoff

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Policy bounds waits that double with each failure.
type Policy struct {
	First time.Duration // the bound after the first failure
	Max   time.Duration
}

// Bound returns the longest wait after a number of failures, at least one. The wait itself is
// random below it ("full jitter" of Amazon's "Exponential Backoff And Jitter"), so that those
// who failed together do not come back together.
func (p Policy) Bound(failures int) time.Duration {
	bound := p.First
	for range failures - 1 {
		if bound >= p.Max {
			break
		}
		bound *= 2
	}
	return min(bound, p.Max)
}

// Clock is what waiting needs from outside.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
	// Rand returns a number in [0, n), n > 0.
	Rand func(n time.Duration) time.Duration
}

// RealClock waits in real time.
func RealClock() Clock { return Clock{Now: time.Now, Sleep: Sleep, Rand: rand.N[time.Duration]} }

// Wait returns a random wait after a number of failures.
func (p Policy) Wait(c Clock, failures int) time.Duration { return c.Rand(p.Bound(failures)) }

// final is an error after which nothing is sent again.
type final struct{ error }

// Final marks an error of what Do calls: it is not a failure that another attempt could mend.
func Final(err error) error {
	if err == nil {
		return nil
	}
	return final{err}
}

// Do calls send until it succeeds, or its error is not to be tried again: it is Final, or the context ended, or
// again, which gets the number of failures, says so. It waits in between for as long as again says, and returns
// the error at once if the context ends before that.
func Do(ctx context.Context, c Clock, send func() error,
	again func(err error, failures int) (time.Duration, bool),
) error {
	for failures := 1; ; failures++ {
		err := send()
		if err == nil {
			return nil
		}
		if f, ok := err.(final); ok { //nolint:errorlint // send returns it as it is
			return f.error
		}
		wait, ok := again(err, failures)
		if !ok || ctx.Err() != nil || Late(ctx, c.Now().Add(wait)) {
			return err
		}
		if wait <= 0 {
			continue
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// Late reports whether a context ends before a time.
func Late(ctx context.Context, t time.Time) bool {
	end, ok := ctx.Deadline()
	return ok && end.Before(t)
}

// After returns how long a server asks to wait with the header Retry-After, in either of its
// forms, seconds and a date; at least 0. It reports whether the server asks.
func After(h http.Header, now time.Time) (wait time.Duration, asks bool) {
	const most = 1e9 // seconds; more does not fit into a duration
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return time.Duration(min(s, most) * float64(time.Second)), true
	}
	at, err := http.ParseTime(v)
	return max(0, at.Sub(now)), err == nil
}

// Sleep waits in real time, or until the context ends.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
