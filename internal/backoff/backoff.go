// Package backoff says how long to wait before a request is sent again.
package backoff

import (
	"context"
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
