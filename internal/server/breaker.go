package server

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Bounds of the breaker.
const (
	breakAfter = 5                // failures in a row, of any repository
	firstBreak = 15 * time.Second // doubles with each failure, with full jitter
	maxBreak   = 15 * time.Minute
	// maxRateWait is the longest wait for a rate limit: the longest period of a forge's limit is
	// an hour. A clock that jumped cannot make it longer.
	maxRateWait = 65 * time.Minute
)

// breaker keeps requests from a forge that fails or refuses them. It measures time from a clock
// that does not jump. It is safe for concurrent use.
type breaker struct {
	elapsed func() time.Duration // since the start
	now     func() time.Time     // what times of the forge are compared with
	random  func(n time.Duration) time.Duration

	mu       sync.Mutex
	failures int
	until    map[string]time.Duration // of each owner whose rate limit is exceeded, in lower case; of all for the empty one
}

// Wait returns how long nothing should be sent about the repositories of an owner; 0 if something may be. The owner
// is empty for what is about none, or about several.
func (b *breaker) Wait(owner string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.until[""]-b.elapsed(), b.until[strings.ToLower(owner)]-b.elapsed(), 0)
}

// pause keeps requests from being sent for a time. Call it with mu held.
func (b *breaker) pause(owner string, wait time.Duration) {
	b.until[owner] = max(b.until[owner], b.elapsed()+wait)
}

// Report notes how a request ended. Errors that are about one repository do not count: 403 is one,
// as a forge that does not know the token answers 401.
func (b *breaker) Report(err error) {
	var e *forge.Error
	switch {
	case err == nil:
		b.mu.Lock()
		b.failures = 0
		b.mu.Unlock()
		return
	case !errors.As(err, &e):
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Kind {
	case forge.KindRate:
		b.pause(e.Owner, min(max(e.Retry.Sub(b.now()), firstBreak), maxRateWait))
	case forge.KindServer, forge.KindNetwork, forge.KindAuth:
		if e.Err != nil || e.Status == http.StatusForbidden { // the caller stopped waiting; or see above
			return
		}
		if b.failures++; b.failures >= breakAfter {
			most := min(firstBreak<<min(b.failures-breakAfter, 10), maxBreak)
			b.pause("", max(b.random(most), time.Second))
		}
	}
}
