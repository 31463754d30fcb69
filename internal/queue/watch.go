package queue

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/precedent-dev/precedent/internal/store"
)

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
			a := &acceptance{tasks: []Task{t}, restarts: true, fresh: true}
			if err := q.db.WantWork(ctx, tx, merge([]*acceptance{a}, true, now), true); err != nil {
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
