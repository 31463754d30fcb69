package wire

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

const (
	firstBackoff = time.Second // doubles with each try, with full jitter
	maxBackoff   = 30 * time.Second
	// secondaryPause is what GitHub asks for when a secondary limit names no time,
	// to be made longer each time ("Best practices for using the REST API").
	secondaryPause = time.Minute
)

// waitTurn waits until no other request that changes something is under way, and the
// last one is a while ago. Whoever has the turn calls done.
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

// quotaOf reads what an answer says of the rate limit.
func quotaOf(h http.Header) (forge.Quota, bool) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	return forge.Quota{Limit: limit, Left: left, Reset: time.Unix(reset, 0).UTC()}, err1 == nil && err2 == nil && err3 == nil
}

// noteQuota notes what an answer says of the rate limit. GitHub counts queries by
// GraphQL apart; self-hosted forges may have no limit.
func (t *Transport) noteQuota(h http.Header) {
	q, ok := quotaOf(h)
	if of := h.Get("X-RateLimit-Resource"); !ok || of != "" && of != "core" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quota = q
}

// delay waits until the forge lets requests through again. What is known to be
// refused is not sent: GitHub bans who goes on asking.
func (t *Transport) delay(ctx context.Context, writes bool) error {
	t.mu.Lock()
	until := t.pausedUntil
	if q := t.quota; q.Limit > 0 && q.Left == 0 && q.Reset.After(until) {
		until = q.Reset
	}
	now, wrote := t.o.Now(), t.lastWrite
	t.mu.Unlock()
	wait := until.Sub(now)
	if ctx.Err() != nil {
		return t.canceledError(ctx.Err(), false)
	}
	if wait > t.o.MaxWait {
		return t.rateLimitError(until)
	}
	if writes && !wrote.IsZero() {
		// A clock that was set back makes nobody wait longer.
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

// rateLimitError is the error of a rate limit that is used up.
func (t *Transport) rateLimitError(until time.Time) *forge.Error {
	return &forge.Error{
		Kind: forge.KindRate, Retry: until,
		Msg:  fmt.Sprintf("%s rate limit exceeded until %s", t.o.Forge, until.UTC().Format(time.RFC3339)),
		Hint: "wait, or use a token of another account: each account has its own limit",
	}
}

// retryDelay says how long to wait before the next try, if there is to be one.
// A rate limit holds back all requests, the next try among them.
func (t *Transport) retryDelay(g answer, e *forge.Error, try int) (time.Duration, bool) {
	now := t.o.Now()
	switch e.Kind {
	case forge.KindRate:
		until := e.Retry
		if until.IsZero() {
			until = now.Add(secondaryPause << (try - 1))
			e.Retry = until
		}
		t.mu.Lock()
		if until.After(t.pausedUntil) {
			t.pausedUntil = until
		}
		t.mu.Unlock()
		return 0, try < maxTries // holdBack waits
	case forge.KindServer, forge.KindNetwork:
		if until, ok := retryAfter(g.header, now); ok {
			wait := until.Sub(now)
			e.Retry = until
			return max(wait, 0), try < maxTries && wait <= t.o.MaxWait
		}
		return t.o.Rand(min(firstBackoff<<(try-1), maxBackoff)), try < maxTries
	}
	return 0, false
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(h http.Header, now time.Time) (time.Time, bool) {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseInt(v, 10, 32); err == nil && s >= 0 {
		return now.Add(time.Duration(s) * time.Second), true
	}
	at, err := http.ParseTime(v)
	return at.UTC(), err == nil
}

// rateLimited tells whether a 403 or 429 is a rate limit, and until when it holds;
// the zero time if it does not say.
func (t *Transport) rateLimited(g answer, message string) (until time.Time, is bool) {
	if g.status != http.StatusForbidden && g.status != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	if at, ok := retryAfter(g.header, t.o.Now()); ok {
		return at, true
	}
	if g.header.Get("X-RateLimit-Remaining") == "0" {
		if q, ok := quotaOf(g.header); ok && q.Reset.After(t.o.Now()) {
			return q.Reset, true
		}
		return time.Time{}, true
	}
	secondary := strings.Contains(strings.ToLower(message), "secondary rate limit")
	return time.Time{}, secondary || g.status == http.StatusTooManyRequests
}
