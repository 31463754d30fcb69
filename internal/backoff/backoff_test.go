package backoff

import (
	"context"
	"errors"
	"math"
	"net/http"
	"testing"
	"time"
)

func TestBound(t *testing.T) {
	p := Policy{First: 2 * time.Second, Max: 60 * time.Second}
	for failures, want := range map[int]time.Duration{
		1: 2 * time.Second, 2: 4 * time.Second, 5: 32 * time.Second, 6: time.Minute, math.MaxInt: time.Minute,
	} {
		if got := p.Bound(failures); got != want {
			t.Errorf("%d failures: %s", failures, got)
		}
	}
}

func TestAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for v, want := range map[string]time.Duration{
		"": -1, "soon": -1, "-1": -1, "NaN": -1, "0": 0, "17": 17 * time.Second, "0.5": time.Second / 2,
		"1e300": 1e9 * time.Second, "Inf": 1e9 * time.Second,
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		got, asks := After(http.Header{"Retry-After": {v}}, now)
		if asks != (want >= 0) || asks && got != want {
			t.Errorf("%q: %s, %t", v, got, asks)
		}
	}
}

// TestDo: the waits are those that again asks for, and nothing is sent when waiting cannot help.
func TestDo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		errs  []error // of the attempts
		again func(error, int) (time.Duration, bool)
		limit time.Duration // of the context; 0 for none
		want  error
		sent  int
		slept time.Duration
	}{
		"at once":      {errs: []error{nil}, sent: 1},
		"the third":    {errs: []error{failed, failed, nil}, again: always, sent: 3, slept: 3 * time.Second},
		"not again":    {errs: []error{failed}, again: func(error, int) (time.Duration, bool) { return 0, false }, want: failed, sent: 1},
		"final":        {errs: []error{Final(failed)}, again: always, want: failed, sent: 1},
		"too late":     {errs: []error{failed, failed}, again: always, limit: 1500 * time.Millisecond, want: failed, sent: 2, slept: time.Second},
		"final is nil": {errs: []error{Final(nil)}, sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			if test.limit > 0 {
				var cancel func()
				ctx, cancel = context.WithDeadline(ctx, time.Now().Add(time.Hour))
				defer cancel()
			}
			start, sent, slept := now, 0, time.Duration(0)
			if end, ok := ctx.Deadline(); ok {
				start = end.Add(-test.limit)
			}
			clock := Clock{
				Now:   func() time.Time { return start.Add(slept) },
				Sleep: func(_ context.Context, d time.Duration) error { slept += d; return nil },
			}
			err := Do(ctx, clock, func() error { sent++; return test.errs[sent-1] }, test.again)
			if err != test.want || sent != test.sent || slept != test.slept {
				t.Errorf("%v after %d attempts and %s", err, sent, slept)
			}
		})
	}
}

func always(_ error, failures int) (time.Duration, bool) {
	return time.Duration(failures) * time.Second, true
}
