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
	// watchEvery is how often a replica looks whether its runs are still wanted, and strayEvery
	// whether there are runs that it does not know of.
	watchEvery = 500 * time.Millisecond
	strayEvery = 10 * time.Second
	// sweepPolls is how many polls pass until it looks for entries that are due, and for tickets that
	// are missing.
	sweepPolls = 5
	// pruneEvery is how often it deletes what is too old.
	pruneEvery = time.Hour
)

// period is a kind that is wanted once an interval.
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
	if err := q.register(ctx, true); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	loops, end := context.WithCancel(context.WithoutCancel(ctx))
	q.mu.Lock()
	q.endLoops = end
	q.mu.Unlock()
	if err := q.sweep(ctx); err != nil { // it is repeated
		q.o.Log.Warn("job queue", slog.String("error", q.problem(err)))
	}
	lives := newLives(time.Now)
	q.repeat(loops, q.o.Lease/3, nil, func(ctx context.Context) error { return q.beat(ctx, lives) })
	q.repeat(loops, watchEvery, q.look, func(ctx context.Context) error {
		if !q.runsAny() {
			return nil
		}
		return q.watch(ctx)
	})
	q.repeat(loops, strayEvery, nil, q.watch)
	q.repeat(loops, sweepPolls*q.o.Poll, q.wake, q.sweep)
	q.repeat(loops, min(pruneEvery, q.o.Keep), nil, q.prune)
	if err := q.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	return nil
}

// repeat calls do now, every interval, and when asked, until the context ends.
func (q *Queue) repeat(ctx context.Context, interval time.Duration, ask <-chan struct{}, do func(context.Context) error) {
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

// stopMargin is how long Stop may take to save what it leaves, when its context is over.
const stopMargin = 5 * time.Second

// Stop takes no new jobs, cancels the running ones and waits until they have ended, or the context
// is over. All of them run again after a restart. It also closes a queue that was not started.
func (q *Queue) Stop(ctx context.Context) error {
	q.mu.Lock()
	started := q.endLoops != nil
	q.stopping = true
	for _, r := range q.runs {
		r.cancel(ErrStopping)
	}
	q.mu.Unlock()
	if !started {
		return q.pool.Close()
	}
	err := q.client.StopAndCancel(ctx)
	q.endLoops()
	q.loops.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopMargin)
	defer cancel()
	err = errors.Join(err, q.db.Transact(last, "leave jobs", func(tx *sql.Tx) error {
		now, err := q.clock(last, tx)
		if err != nil {
			return err
		}
		if _, err := q.db.RemoveReplica(last, tx, q.o.Replica, 0); err != nil {
			return err
		}
		tickets, err := q.db.ReleaseWork(last, tx, q.o.Replica, false, maxCrashes, diedOften, now)
		if err != nil {
			return err
		}
		return returnTickets(last, tx, tickets)
	}))
	return errors.Join(err, q.pool.Close())
}
