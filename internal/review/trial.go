package review

import (
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
)

// leastTrial is the minimum number of requests in a trial.
const leastTrial = 3

// trial is the first requests of a review, in the order of finders and, for each, of shards: as many as run
// concurrently. The other requests are sent once one of the trial was answered, and never if all of them failed, so that
// an engine that cannot answer costs neither money nor time for every shard. Only the input and the answers determine
// which requests are sent, not the order in which they end.
type trial struct {
	shards  int
	size    int
	decided chan struct{} // closed once one was answered, or all have ended
	failed  bool          // all requests of the trial failed

	mu    sync.Mutex
	ended int
	first reply // to the first request
}

// newTrial returns the trial of the specialists that are asked.
func newTrial(asked, shards, concurrency int) *trial {
	return &trial{shards: shards, size: min(max(concurrency, leastTrial), asked*shards), decided: make(chan struct{})}
}

// end records the reply to the request of a finder about a shard.
func (t *trial) end(finder, shard int, r reply) {
	n := finder*t.shards + shard
	if n >= t.size {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if n == 0 {
		t.first = r
	}
	t.ended++
	select {
	case <-t.decided:
	default:
		if t.failed = t.ended == t.size && !r.ok(); t.failed || r.ok() {
			close(t.decided)
		}
	}
}

// allows reports whether the request of a finder about a shard may be sent. It blocks
// until that is known.
func (t *trial) allows(ctx context.Context, finder, shard int) bool {
	if finder*t.shards+shard < t.size {
		return true
	}
	select {
	case <-t.decided:
	case <-ctx.Done():
		return false
	}
	return !t.failed
}

// unsent is the reply to a request that was not sent because the trial failed.
func (t *trial) unsent() reply {
	status, why := t.first.failure()
	message := fmt.Sprintf("not sent: none of the first %d requests was answered; the first ended %s: %s", t.size, status,
		why)
	return reply{answer: engine.Answer{Status: precedent.StatusError, Message: message}}
}
