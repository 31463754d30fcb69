package wire

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/forge"
)

var backoffs = backoff.Policy{First: time.Second, Max: 30 * time.Second}

// secondaryPause is how long GitHub asks to wait, longer each time, after a
// secondary limit that names no time ("Best practices for using the REST API").
const secondaryPause = time.Minute

// waitTurn waits until no other request that makes a change is in flight. The caller
// calls done after its own.
func (t *Transport) waitTurn(ctx context.Context) (done func(), err error) {
	select {
	case t.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, t.canceledError(ctx.Err(), false)
	}
	return func() {
		t.mu.Lock()
		t.lastWrite = t.o.Now()
		t.mu.Unlock()
		<-t.writing
	}, nil
}

// quotaOf parses the rate limit headers.
func quotaOf(h http.Header) (forge.Quota, bool) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	return forge.Quota{Limit: limit, Left: left, Reset: time.Unix(reset, 0).UTC()}, err1 == nil && err2 == nil &&
		err3 == nil
}

// noteQuota records the time and the rate limit of a response. GitHub has a separate
// limit for GraphQL; self-hosted forges may have none.
func (t *Transport) noteQuota(ctx context.Context, h http.Header) {
	if at, err := http.ParseTime(h.Get("Date")); err == nil {
		t.mu.Lock()
		t.answered = at.UTC()
		t.mu.Unlock()
	}
	q, ok := quotaOf(h)
	if of := h.Get("X-RateLimit-Resource"); !ok || of != "" && of != "core" {
		return
	}
	owner := t.o.Limit(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.limits[owner]
	t.quota, l.quota = q, q
	t.limits[owner] = l
}

// delay waits until the forge accepts requests again. A request that is known to be
// refused is not sent: GitHub bans clients that go on.
func (t *Transport) delay(ctx context.Context, writes bool) error {
	owner := t.o.Limit(ctx)
	t.mu.Lock()
	until := t.limits[owner].pausedUntil
	if q := t.limits[owner].quota; q.Limit > 0 && q.Left == 0 && q.Reset.After(until) {
		until = q.Reset
	}
	now, wrote := t.o.Now(), t.lastWrite
	t.mu.Unlock()
	wait := until.Sub(now)
	if ctx.Err() != nil {
		return t.canceledError(ctx.Err(), false)
	}
	if wait > maxWait {
		return t.rateLimitError(until, owner)
	}
	if writes && !wrote.IsZero() {
		// Do not wait longer after the clock was set back.
		wait = max(wait, min(wrote.Add(writeGap).Sub(now), writeGap))
	}
	if wait <= 0 {
		return nil
	}
	if err := t.o.Sleep(ctx, wait); err != nil {
		return t.canceledError(err, false)
	}
	return nil
}

func (t *Transport) rateLimitError(until time.Time, owner string) *forge.Error {
	return &forge.Error{
		Kind: forge.KindRate, Retry: until, Owner: owner,
		Msg:  fmt.Sprintf("%s rate limit exceeded until %s", t.o.Forge, until.UTC().Format(time.RFC3339)),
		Hint: "wait, or use a token of another account: each account has its own limit",
	}
}

// retryDelay returns how long to wait before the next attempt, and whether to make
// one. A rate limit delays all requests that count against it. A forge that was never reached does not run, or its
// address is wrong: waiting does not help.
func (t *Transport) retryDelay(g answer, e *forge.Error, try int) (time.Duration, bool) {
	now := t.o.Now()
	if e.Unreached {
		return 0, false
	}
	switch e.Kind {
	case forge.KindRate:
		until := e.Retry
		if until.IsZero() {
			until = now.Add(secondaryPause << (try - 1))
			e.Retry = until
		}
		t.mu.Lock()
		if l := t.limits[e.Owner]; until.After(l.pausedUntil) {
			l.pausedUntil = until
			t.limits[e.Owner] = l
		}
		t.mu.Unlock()
		return 0, try < maxTries // delay waits
	case forge.KindServer, forge.KindNetwork:
		if wait, asks := backoff.After(g.header, now); asks {
			e.Retry = now.Add(wait)
			return wait, try < maxTries && wait <= maxWait
		}
		return backoffs.Wait(t.clock(), try), try < maxTries
	}
	return 0, false
}

// rateLimited reports whether a 403 or 429 is a rate limit, and until when; zero if that is unknown.
func (t *Transport) rateLimited(g answer, message string) (until time.Time, is bool) {
	if g.status != http.StatusForbidden && g.status != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	now := t.o.Now()
	if wait, asks := backoff.After(g.header, now); asks {
		return now.Add(wait), true
	}
	if g.header.Get("X-RateLimit-Remaining") == "0" {
		if q, ok := quotaOf(g.header); ok && q.Reset.After(now) {
			return q.Reset, true
		}
		return time.Time{}, true
	}
	secondary := strings.Contains(strings.ToLower(message), "secondary rate limit")
	return time.Time{}, secondary || g.status == http.StatusTooManyRequests
}
