package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/precedent-dev/precedent/internal/store"
)

func (q *Queue) watch(ctx context.Context) error {
	if err := q.startClaiming(ctx); err != nil {
		return err
	}
	defer q.stopClaiming()
	q.mu.Lock()
	none := len(q.runs) == 0
	q.mu.Unlock()
	if none {
		return nil
	}
	rows, err := q.db.WorkOfReplica(ctx, q.o.Replica)
	if err != nil {
		return err
	}
	now := map[int64]store.Work{}
	for _, w := range rows {
		now[w.ID] = w
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, r := range q.runs {
		if why := r.compare(now[id]); why != nil { // a missing one has no fence
			r.cancel(why)
		}
	}
	return nil
}

// beat renews the lease of this replica, which is that of all its runs. On SQLite it needs none: no
// other process runs.
func (q *Queue) beat(ctx context.Context) error {
	if q.db.Engine() == store.SQLite {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, q.o.Lease/3)
	defer cancel()
	before := time.Now()
	alive, err := q.renew(limited, false)
	if err == nil && !alive { // others took this replica for dead
		q.cancelRuns(ErrLeaseLost)
		_, err = q.renew(limited, true)
	}
	q.mu.Lock()
	if err == nil {
		q.renewed = before
	}
	stale := q.stale()
	q.mu.Unlock()
	if stale {
		q.cancelRuns(ErrLeaseLost)
	}
	return err
}

func (q *Queue) renew(ctx context.Context, add bool) (alive bool, err error) {
	err = q.change(ctx, "renew lease", func(tx *sql.Tx, now time.Time) error {
		alive, err = q.db.KeepReplica(ctx, tx, q.o.Replica, now.Add(q.o.Lease), add)
		return err
	})
	return alive, err
}

func (q *Queue) cancelRuns(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.runs {
		r.cancel(why)
	}
}

// register adds this replica as one that starts. What ran under its name before, and on SQLite under
// any, runs again.
func (q *Queue) register(ctx context.Context) error {
	before := time.Now()
	err := q.change(ctx, "register replica", func(tx *sql.Tx, now time.Time) error {
		if q.db.Engine() == store.SQLite {
			if err := q.db.RemoveReplicas(ctx, tx, "", now.AddDate(100, 0, 0)); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM river_leader"); err != nil {
				return err
			}
		}
		if err := q.db.RemoveReplicas(ctx, tx, q.o.Replica, now); err != nil {
			return err
		}
		if err := q.rescue(ctx, tx, true, now); err != nil {
			return err
		}
		_, err := q.db.KeepReplica(ctx, tx, q.o.Replica, now.Add(q.o.Lease), true)
		return err
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.renewed = before
	return err
}

// diedOften is the problem of an entry that became a dead letter because replicas died.
const diedOften = "the process that ran it died, too often"

// rescue makes the jobs of River ready that ran on replicas that are dead, and those that this one
// has without doing them, because their ends could not be saved. On SQLite, where one process runs, all
// others are dead when this one starts. River's own rescuer, which compares the clocks of replicas
// after hours, would be late.
func (q *Queue) rescue(ctx context.Context, tx *sql.Tx, starts bool, now time.Time) error {
	exec := q.client.Driver().UnwrapExecutor(tx)
	running, err := exec.JobGetStuck(ctx, &riverdriver.JobGetStuckParams{
		Max:          maxRunning,
		StuckHorizon: now.AddDate(100, 0, 0),
	})
	if err != nil || len(running) == 0 {
		return err
	}
	alive, err := q.db.Replicas(ctx, tx)
	if err != nil {
		return err
	}
	var stuck riverdriver.JobRescueManyParams
	strays := map[int64]time.Time{}
	defer func() { q.strays = strays }()
	for _, job := range running {
		on := job.AttemptedBy[len(job.AttemptedBy)-1]
		lives := slices.Contains(alive, on) || !starts && q.db.Engine() == store.SQLite
		if lives && (on != q.o.Replica || !q.strayed(job.ID, strays)) {
			continue
		}
		problem, state, finalized := "", rivertype.JobStateAvailable, (*time.Time)(nil)
		if job.Attempt >= job.MaxAttempts {
			problem, state, finalized = diedOften, rivertype.JobStateDiscarded, new(now.UTC())
		}
		if err := q.db.ReleaseWork(ctx, tx, job.ID, problem, now); err != nil {
			return err
		}
		q.o.Log.Warn("a replica died, or could not save how a job ended: it runs again", slog.String("replica", on))
		about, err := json.Marshal(rivertype.AttemptError{
			At: now.UTC(), Attempt: job.Attempt,
			Error: "the process that ran it died",
		})
		if err != nil {
			return err
		}
		stuck.ID = append(stuck.ID, job.ID)
		stuck.Error = append(stuck.Error, about)
		stuck.FinalizedAt = append(stuck.FinalizedAt, finalized)
		stuck.ScheduledAt = append(stuck.ScheduledAt, time.Now().Add(-lineLength).UTC())
		stuck.State = append(stuck.State, string(state))
	}
	if stuck.ID == nil {
		return nil
	}
	_, err = exec.JobRescueMany(ctx, &stuck)
	return err
}

const (
	// maxRunning limits how many running jobs are looked at, of all replicas.
	maxRunning = 10_000
	// strayTime is how long River may take to save how a job ended.
	strayTime = time.Minute
)

// strayed reports whether a job that River says runs here has not been done for some time. It notes
// in strays since when.
func (q *Queue) strayed(job int64, strays map[int64]time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy[job] {
		return false
	}
	strays[job] = time.Now()
	if since, known := q.strays[job]; known {
		strays[job] = since
	}
	return time.Since(strays[job]) >= strayTime
}

// sweep runs again what ran on replicas that died, and what is wanted and does not run, whatever lost
// it.
func (q *Queue) sweep(ctx context.Context) error {
	err := q.change(ctx, "find jobs", func(tx *sql.Tx, now time.Time) error {
		if q.db.Engine() == store.PostgreSQL {
			if err := q.db.RemoveReplicas(ctx, tx, "", now); err != nil {
				return err
			}
		}
		return q.rescue(ctx, tx, false, now)
	})
	if err != nil {
		return err
	}
	if err := q.beginPeriods(ctx); err != nil {
		return err
	}
	now, err := q.db.Clock(ctx, nil, q.o.Now)
	if err != nil {
		return err
	}
	without, waiting, err := q.db.LateWork(ctx, now)
	if err != nil || len(without)+len(waiting) == 0 {
		return err
	}
	return q.change(ctx, "find jobs", func(tx *sql.Tx, _ time.Time) error {
		for _, w := range waiting {
			if err := gone(q.client.JobRetryTx(ctx, tx, w.Job)); err != nil {
				return err
			}
		}
		return q.issue(ctx, tx, without)
	})
}

func (q *Queue) beginPeriods(ctx context.Context) error {
	var all error
	for _, p := range q.periods {
		all = errors.Join(all, q.change(ctx, "begin period", func(tx *sql.Tx, now time.Time) error {
			begun, err := q.db.BeginPeriod(ctx, tx, string(p.kind), p.interval, now)
			if err != nil || !begun {
				return err
			}
			return q.want(ctx, tx, []Task{{Kind: p.kind, Reason: "every " + p.interval.String()}}, true, now)
		}))
	}
	return all
}

func (q *Queue) prune(ctx context.Context) error {
	now, err := q.db.Clock(ctx, nil, q.o.Now)
	if err != nil {
		return err
	}
	return q.db.PruneWork(ctx, now.Add(-keepEnded), now.Add(-keepDead), now.Add(-keepDead))
}
