package github

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

// learn notes what an answer says of the rate limit.
func (t *transport) learn(h http.Header) {
	limit, err1 := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, err2 := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	reset, err3 := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return // GitHub Enterprise may have none
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quota = forge.Quota{Limit: limit, Left: left, Reset: time.Unix(reset, 0).UTC()}
}

func (t *transport) left() forge.Quota {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.quota
}

// holdBack waits until GitHub lets requests through again. What is known to be
// refused is not sent: GitHub bans who goes on asking.
func (t *transport) holdBack(ctx context.Context) error {
	t.mu.Lock()
	until := t.until
	if q := t.quota; q.Limit > 0 && q.Left == 0 && q.Reset.After(until) {
		until = q.Reset
	}
	t.mu.Unlock()
	wait := until.Sub(t.now())
	switch {
	case ctx.Err() != nil:
		return abandoned(ctx.Err())
	case wait <= 0:
		return nil
	case wait > t.maxWait:
		return used(until, 0)
	}
	if err := t.sleep(ctx, wait); err != nil {
		return abandoned(err)
	}
	return nil
}

// used is the error of a rate limit that is used up.
func used(until time.Time, status int) *forge.Error {
	return &forge.Error{
		Kind: forge.KindRate, Status: status, Retry: until,
		Msg:  fmt.Sprintf("GitHub's rate limit is used up until %s", until.UTC().Format(time.RFC3339)),
		Hint: "wait, or use a token of its own: each account has its own limit",
	}
}

// pause says how long to wait before the next try, if there is to be one.
// A rate limit holds back all requests, the next try among them.
func (t *transport) pause(g got, e *forge.Error, try int) (time.Duration, bool) {
	switch e.Kind {
	case forge.KindRate:
		until := e.Retry
		if until.IsZero() {
			until = t.now().Add(secondaryPause << (try - 1))
			e.Retry = until
		}
		t.mu.Lock()
		if until.After(t.until) {
			t.until = until
		}
		t.mu.Unlock()
		return 0, try < maxTries // holdBack waits
	case forge.KindServer, forge.KindNetwork:
		if until, ok := retryAfter(g.header, t.now()); ok {
			wait := until.Sub(t.now())
			e.Retry = until
			return max(wait, 0), try < maxTries && wait <= t.maxWait
		}
		return t.rand(min(firstBackoff<<(try-1), maxBackoff)), try < maxTries
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

// limited tells whether a 403 or 429 is a rate limit, and until when it holds;
// the zero time if it does not say.
func (t *transport) limited(g got, message string) (until time.Time, is bool) {
	if g.status != http.StatusForbidden && g.status != http.StatusTooManyRequests {
		return time.Time{}, false
	}
	if at, ok := retryAfter(g.header, t.now()); ok {
		return at, true
	}
	if g.header.Get("X-RateLimit-Remaining") == "0" {
		if at := t.left().Reset; at.After(t.now()) {
			return at, true
		}
		return time.Time{}, true
	}
	secondary := strings.Contains(strings.ToLower(message), "secondary rate limit")
	return time.Time{}, secondary || g.status == http.StatusTooManyRequests
}
