package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent/internal/store"
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

// diedOften is the problem of an entry that became a dead letter because replicas died.
const diedOften = "the process that ran it died, too often"

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
	lives := newLives(time.Now)
	q.repeat(loops, q.o.Lease/3, nil, func(ctx context.Context) error { return q.beat(ctx, lives) })
	q.repeat(loops, watchEvery, q.look, func(ctx context.Context) error {
		if !q.runsAny() {
			return nil
		}
		return q.watch(ctx)
	})
	q.repeat(loops, strayEvery, nil, q.watch)
	q.repeat(loops, sweepPolls*q.o.Poll, nil, q.sweep)
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

// register adds this replica. When it starts, what ran under its name before, and on SQLite under
// any, is released.
func (q *Queue) register(ctx context.Context, starts bool) error {
	beats, err := q.db.Beats(ctx)
	if err != nil {
		return err
	}
	before := time.Now()
	err = q.db.Transact(ctx, "register replica", func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		beats[q.o.Replica] = 0
		for id := range beats {
			if starts && (id == q.o.Replica || q.db.Engine() == store.SQLite) {
				if err := q.release(ctx, tx, id, now); err != nil {
					return err
				}
			}
		}
		if starts && q.db.Engine() == store.SQLite { // also those that ran nothing yet
			if _, err := tx.ExecContext(ctx, "UPDATE river_job SET state = 'available' WHERE state = 'running'"); err != nil {
				return err
			}
		}
		return q.db.AddReplica(ctx, tx, q.o.Replica, now)
	})
	if err == nil {
		q.leaseRenewed(before)
	}
	return err
}

// release removes a replica that died, and makes what it ran ready.
func (q *Queue) release(ctx context.Context, tx *sql.Tx, replica string, now time.Time) error {
	if _, err := q.db.RemoveReplica(ctx, tx, replica, 0); err != nil {
		return err
	}
	tickets, err := q.db.ReleaseWork(ctx, tx, replica, true, maxCrashes, diedOften, now)
	if err != nil {
		return err
	}
	return returnTickets(ctx, tx, tickets)
}

func (q *Queue) leaseRenewed(at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.renewed = at
}

// beat renews the lease of this replica, which is that of all its runs, and releases the work of
// replicas that died.
func (q *Queue) beat(ctx context.Context, lives *lives) error {
	limited, cancel := context.WithTimeout(ctx, q.o.Lease/3)
	defer cancel()
	before := time.Now()
	alive, err := q.db.Beat(limited, q.o.Replica)
	switch {
	case err == nil && alive:
		q.leaseRenewed(before)
	case err == nil: // others took this replica for dead
		q.cancelRuns(ErrLeaseLost)
		err = q.register(ctx, false)
	}
	if !q.mayRun() {
		q.cancelRuns(ErrLeaseLost)
	}
	if err != nil {
		lives.forget()
		return err
	}
	beats, err := q.db.Beats(limited)
	if err != nil {
		lives.forget()
		return err
	}
	var all error
	for id, beat := range lives.dead(beats, q.o.Lease) {
		if id != q.o.Replica {
			all = errors.Join(all, q.bury(ctx, id, beat))
		}
	}
	return all
}

// bury releases the work of a replica if it still has the beat.
func (q *Queue) bury(ctx context.Context, replica string, beat int64) error {
	return q.db.Transact(ctx, "release jobs", func(tx *sql.Tx) error {
		removed, err := q.db.RemoveReplica(ctx, tx, replica, beat)
		if err != nil || !removed {
			return err
		}
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		q.o.Log.Warn("a replica died: its jobs run elsewhere", slog.String("replica", replica))
		if err := q.release(ctx, tx, replica, now); err != nil {
			return err
		}
		return q.issueTickets(ctx, tx)
	})
}

// lives remembers when the beats of replicas changed, by the monotonic clock of this process: no
// clock that is set can make a replica look dead or alive.
type lives struct {
	now  func() time.Time
	seen map[string]life
}

type life struct {
	beat int64
	at   time.Time
}

func newLives(now func() time.Time) *lives { return &lives{now: now, seen: map[string]life{}} }

// forget begins anew, after a time in which beats could not be read: the replicas could not renew
// their leases either.
func (l *lives) forget() { clear(l.seen) }

// dead returns the replicas whose beats did not change for the time of a lease.
func (l *lives) dead(beats map[string]int64, lease time.Duration) map[string]int64 {
	now := l.now()
	dead := map[string]int64{}
	for id := range l.seen {
		if _, ok := beats[id]; !ok {
			delete(l.seen, id)
		}
	}
	for id, beat := range beats {
		known, ok := l.seen[id]
		switch {
		case !ok || known.beat != beat:
			l.seen[id] = life{beat, now}
		case now.Sub(known.at) >= lease:
			dead[id] = beat
		}
	}
	return dead
}

// cancelRuns cancels all runs of this replica.
func (q *Queue) cancelRuns(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.runs {
		r.cancel(why)
	}
}

func (q *Queue) runsAny() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.runs) > 0
}

func (q *Queue) lookNow() {
	select {
	case q.look <- struct{}{}:
	default:
	}
}

// watch cancels runs that must not go on. An entry that this replica has and does not run, because
// it could not save that it ended, runs again.
func (q *Queue) watch(ctx context.Context) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	rows, err := q.db.RunningWork(ctx, q.o.Replica)
	if err != nil {
		return err
	}
	q.mu.Lock()
	lost := map[int64]*Run{}
	for id, r := range q.runs {
		lost[id] = r
	}
	var stray []store.Work
	for _, w := range rows {
		r := q.runs[w.ID]
		if r == nil || r.work.Fence != w.Fence {
			stray = append(stray, w)
			continue
		}
		delete(lost, w.ID)
		if why := r.compare(w); why != nil {
			r.cancel(why)
		}
	}
	for _, r := range lost {
		r.cancel(ErrLeaseLost)
	}
	q.mu.Unlock()
	var all error
	for _, w := range stray {
		r := &Run{ID: w.ID, work: w, queue: q}
		_, err := q.saveEnd(ctx, r, store.WorkEnd{State: store.WorkReady})
		all = errors.Join(all, err)
	}
	return all
}

// sweep wants what is due, and issues tickets that are missing, whatever lost them.
func (q *Queue) sweep(ctx context.Context) error {
	if err := q.beginPeriods(ctx); err != nil {
		return err
	}
	orphaned, err := q.db.OrphanedReplicas(ctx)
	if err != nil {
		return err
	}
	now, err := q.clock(ctx, nil)
	if err != nil {
		return err
	}
	pending, err := q.db.WorkPending(ctx, now)
	if err != nil || !pending && len(orphaned) == 0 {
		return err
	}
	return q.db.Transact(ctx, "find jobs", func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		for _, replica := range orphaned {
			if err := q.release(ctx, tx, replica, now); err != nil {
				return err
			}
		}
		if err := q.db.WakeWork(ctx, tx, now); err != nil {
			return err
		}
		return q.issueTickets(ctx, tx)
	})
}

// beginPeriods wants the kinds whose interval is over.
func (q *Queue) beginPeriods(ctx context.Context) error {
	if len(q.periods) == 0 {
		return nil
	}
	last, err := q.db.Periods(ctx)
	if err != nil {
		return err
	}
	now, err := q.clock(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range q.periods {
		at, ok := last[string(p.kind)]
		if passed := now.Sub(at); ok && passed >= -time.Minute && passed < p.interval {
			continue
		}
		err := q.db.Transact(ctx, "begin period", func(tx *sql.Tx) error {
			now, err := q.clock(ctx, tx)
			if err != nil {
				return err
			}
			begun, err := q.db.BeginPeriod(ctx, tx, string(p.kind), p.interval, now)
			if err != nil || !begun {
				return err
			}
			t := Task{Kind: p.kind, Reason: "every " + p.interval.String()}
			a := &acceptance{tasks: []Task{t}, fresh: true}
			if err := q.db.WantWork(ctx, tx, merge([]*acceptance{a}, false, now), false); err != nil {
				return err
			}
			return q.issueTickets(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) prune(ctx context.Context) error {
	now, err := q.clock(ctx, nil)
	if err != nil {
		return err
	}
	return q.db.PruneWork(ctx, now.Add(-q.o.Keep), now.Add(-keepDead), now.Add(-keepDead))
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
