package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// watchEvery is how often a replica looks whether its runs are still wanted.
	watchEvery = 500 * time.Millisecond
	// sweepPolls is how many polls pass until it looks for periods that begin, and for entries that do
	// not run though they are wanted.
	sweepPolls = 5
	// pruneEvery is how often it deletes what is too old.
	pruneEvery = time.Hour
)

type period struct {
	kind     Kind
	interval time.Duration
}

// Every wants the kind, for the server, once an interval over all replicas. It is called before
// Start.
func (q *Queue) Every(kind Kind, interval time.Duration) {
	q.periods = append(q.periods, period{kind, interval})
}

// Start begins to run jobs, until Stop. On SQLite, where one process runs, it takes over at once
// what an earlier one left.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.register(ctx); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	// Now, because a server that works once ends when no job is left. The loop below tries again.
	if err := q.beginPeriods(ctx); err != nil {
		q.o.Log.Warn("job queue", slog.String("error", q.problem(err)))
	}
	loops, end := context.WithCancel(context.WithoutCancel(ctx))
	q.mu.Lock()
	q.endLoops = end
	q.mu.Unlock()
	q.repeat(loops, q.o.Lease/3, nil, q.beat)
	q.repeat(loops, watchEvery, q.look, q.watch)
	q.repeat(loops, sweepPolls*q.o.Poll, nil, q.sweep)
	q.repeat(loops, pruneEvery, nil, q.prune)
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	return nil
}

// repeat calls do now, every interval, and when asked, until the context ends.
func (q *Queue) repeat(ctx context.Context, interval time.Duration, ask <-chan struct{},
	do func(context.Context) error,
) {
	q.loops.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			if err := do(ctx); err != nil && ctx.Err() == nil {
				q.o.Log.Warn("job queue", slog.String("error", q.problem(err)))
			}
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			case <-ask:
			}
		}
	})
}

// stopMargin is how long Stop may take to leave, when its context is over.
const stopMargin = 5 * time.Second

// Stop takes no new jobs, cancels the running ones and waits until they have ended, or the context
// is over. All of them run again after a restart. It also closes a queue that was not started.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	started := q.endLoops != nil
	q.stopping = true
	q.mu.Unlock()
	if !started {
		return q.pool.Close()
	}
	q.cancelRuns(ErrStopping)
	err := q.client.StopAndCancel(ctx)
	q.endLoops()
	q.loops.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopMargin)
	defer cancel()
	err = errors.Join(err, q.change(last, "leave", func(tx *sql.Tx, now time.Time) error {
		return q.db.RemoveReplicas(last, tx, q.o.Replica, now)
	}))
	return errors.Join(err, q.pool.Close())
}
