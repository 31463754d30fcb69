package queue

import (
	"context"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestIdle: "idle: ≤ 1 % of a core"; the queue takes a part of it.
func TestIdle(t *testing.T) {
	needs.Long(t, "measures an idle queue for ten seconds")
	inTurn(t, func(t *testing.T, open func(testing.TB) *store.DB) {
		q := started(t, open(t), Options{Poll: defaultPoll, Do: func(context.Context, *Run) error { return nil }})
		accept(t, q, "1", review(app, 1, "a"))
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		const idle = 10 * time.Second
		busy := needs.Busy(func() { <-time.After(idle) })
		t.Logf("%.2f %% of a core", 100*busy.Seconds()/idle.Seconds())
		if busy > idle/100 {
			t.Errorf("busy for %s of %s", busy, idle)
		}
	})
}
