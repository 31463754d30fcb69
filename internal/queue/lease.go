package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent/internal/store"
)

// diedOften is the problem of an entry that became a dead letter because replicas died.
const diedOften = "the process that ran it died, too often"

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
