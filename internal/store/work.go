package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// Work is what is wanted of a server for a kind, a repository and a pull request. It belongs to the
// server, which works for all repositories: its rows are not reached through a Repo. River's job for
// it has its attempts and times.
type Work struct {
	ID           int64
	Kind         string
	Repo         string // host/owner/name; empty for work of the server
	Pull         int
	Head, Reason string
	Generation   int64  // grows whenever it is wanted
	Settled      int64  // the generation that ended
	Problem      string // of the last failure
	WantedAt     time.Time
	ChangedAt    time.Time
	Job          int64  // the id of River's job
	Replica      string // where it runs; empty if it does not
	Fence        int64  // the number of its last execution
	Ran          int64  // the generation of that
	RanHead      string
	State        string // ready, waiting, running, done, dead or cancelled; only ListWork sets it
}

// Wanted reports whether the last generation has not ended.
func (w *Work) Wanted() bool { return w.Settled < w.Generation }

// workState is the state of an entry w with River's job j, which may be missing.
const workState = `CASE WHEN w.settled >= w.generation THEN w.ended
	WHEN CAST(j.state AS TEXT) = 'running' THEN 'running'
	WHEN CAST(j.state AS TEXT) IN ('retryable', 'scheduled') THEN 'waiting' ELSE 'ready' END`

const workColumns = "id, kind, repo, pull, head, reason, generation, settled, problem, wanted_at, changed_at, " +
	"job, replica, fence, ran, ran_head"

func scanWork(s scanner, w *Work) error {
	return s.Scan(&w.ID, &w.Kind, &w.Repo, &w.Pull, &w.Head, &w.Reason, &w.Generation, &w.Settled, &w.Problem,
		(*moment)(&w.WantedAt), (*moment)(&w.ChangedAt), &w.Job, &w.Replica, &w.Fence, &w.Ran, &w.RanHead)
}

func works(ctx context.Context, q querier, query string, args ...any) ([]Work, error) {
	return collect(ctx, q, query, args, scanWork)
}

// oneWork is the row that a statement returns, if there is one.
func oneWork(ctx context.Context, tx *sql.Tx, query string, args ...any) (Work, bool, error) {
	all, err := works(ctx, tx, query, args...)
	if err != nil || len(all) == 0 {
		return Work{}, false, err
	}
	return all[0], true, nil
}

// Clock returns the time that all processes with this database agree on: that of PostgreSQL, and
// of the machine for SQLite, as now tells it. The transaction may be nil.
func (db *DB) Clock(ctx context.Context, tx *sql.Tx, now func() time.Time) (time.Time, error) {
	if db.engine != PostgreSQL {
		return now(), nil
	}
	q := db.read
	if tx != nil {
		q = tx
	}
	var ms int64
	err := row(ctx, q, "SELECT CAST(date_part('epoch', clock_timestamp()) * 1000 AS BIGINT)", nil, into(&ms))
	return fromMillis(ms), err
}

// Delivery is an event that a forge sent.
type Delivery struct {
	Forge, ID, Event string
	Received         time.Time
}

// AddDelivery saves a delivery, and returns whether it is new.
func (db *DB) AddDelivery(ctx context.Context, tx *sql.Tx, d Delivery) (bool, error) {
	n, err := affected(tx.ExecContext(ctx, `INSERT INTO deliveries (forge, id, event, received) VALUES ($1, $2, $3, $4)
		ON CONFLICT (forge, id) DO NOTHING`, d.Forge, d.ID, d.Event, millis(d.Received)))
	return n > 0, err
}

// Parts of the statement that wants work. What is only wanted still does not start a dead letter
// again; what is new does, and a new head.
const (
	newHead  = "(excluded.head <> '' AND excluded.head <> work.head)"
	stayDead = "(NOT %[1]s AND work.settled >= work.generation AND work.ended = 'dead' AND NOT " + newHead + ")"
	onWant   = ` ON CONFLICT (id) DO UPDATE SET
		generation = work.generation + CASE WHEN ` + stayDead + ` THEN 0 ELSE 1 END,
		head = CASE WHEN excluded.head = '' THEN work.head ELSE excluded.head END,
		reason = excluded.reason,
		wanted_at = CASE WHEN work.settled < work.generation THEN work.wanted_at ELSE excluded.wanted_at END,
		changed_at = CASE WHEN work.replica <> '' OR ` + stayDead + ` THEN work.changed_at ELSE excluded.changed_at END
		RETURNING ` + workColumns
)

// WantWork wants an entry: it adds it, or merges it into the one that is there. Of it, it reads the
// identity, head, reason and WantedAt. Restarts means that a dead letter starts again. It returns the
// entry as it is then.
func (db *DB) WantWork(ctx context.Context, tx *sql.Tx, w Work, restarts bool) (Work, error) {
	restart := "FALSE"
	if restarts {
		restart = "TRUE"
	}
	w, _, err := oneWork(ctx, tx, `INSERT INTO work (id, kind, repo, pull, head, reason, wanted_at, changed_at,
		generation, settled, ended, problem, job, replica, fence, ran, ran_head)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, 1, 0, '', '', 0, '', 0, 0, '')`+fmt.Sprintf(onWant, restart),
		w.ID, w.Kind, w.Repo, w.Pull, w.Head, w.Reason, millis(w.WantedAt))
	return w, err
}

// SetWorkJob saves which job of River does an entry. No other one has that job, as one may say that
// was copied from another database.
func (db *DB) SetWorkJob(ctx context.Context, tx *sql.Tx, id, job int64) error {
	return execute(ctx, tx, "UPDATE work SET job = CASE WHEN id = $1 THEN $2 ELSE 0 END WHERE id = $1 OR job = $2",
		id, job)
}

// Queued counts the jobs that are ready for each repository.
func (db *DB) Queued(ctx context.Context, tx *sql.Tx) (map[string]int, error) {
	queued := map[string]int{}
	err := rows(ctx, tx, `SELECT w.repo, COUNT(*) FROM work w JOIN river_job j ON j.id = w.job
		WHERE j.state = 'available' GROUP BY w.repo`, nil, intoMap(queued))
	return queued, err
}

// ClaimWork begins the execution of the entry that River's job does. It returns false if no entry
// wants the job, and an entry without a Replica if a review or a fix of the same pull request runs:
// two of them never push or review at the same time.
func (db *DB) ClaimWork(ctx context.Context, tx *sql.Tx, job int64, replica string, now time.Time) (Work, bool, error) {
	var fence int64 // the only row of its name: so one claim follows another
	err := row(ctx, tx, `INSERT INTO work_turns (repo, turn) VALUES ('*', 1)
		ON CONFLICT (repo) DO UPDATE SET turn = work_turns.turn + 1 RETURNING turn`, nil, into(&fence))
	if err != nil {
		return Work{}, false, err
	}
	w, found, err := oneWork(ctx, tx, "SELECT "+workColumns+" FROM work WHERE job = $1 AND settled < generation", job)
	if err != nil || !found {
		return Work{}, false, err
	}
	var beside int
	err = row(ctx, tx, `SELECT COUNT(*) FROM work b JOIN river_job j ON j.id = b.job WHERE b.replica <> ''
		AND j.state = 'running'
		AND b.repo = $1 AND b.pull = $2 AND b.id <> $3 AND b.kind IN ('review', 'fix') AND $4 IN ('review', 'fix')`,
		[]any{w.Repo, w.Pull, w.ID, w.Kind}, into(&beside))
	if err != nil || beside > 0 {
		w.Replica = ""
		return w, true, err
	}
	return oneWork(ctx, tx, `UPDATE work SET replica = $2, fence = $3, changed_at = $4, ran = generation, ran_head = head
		WHERE id = $1 RETURNING `+workColumns, w.ID, replica, fence, millis(now))
}

// EndWork ends the execution of an entry. Ended is done or dead if the generation that ran ended so,
// and empty if it has to run again; an empty reason keeps what caused it. It returns the entry as it
// is then, and false if it has been executed by another one since.
func (db *DB) EndWork(ctx context.Context, tx *sql.Tx, w Work, ended, problem, reason string, now time.Time) (Work,
	bool, error,
) {
	return oneWork(ctx, tx, `UPDATE work SET replica = '', changed_at = $3, problem = $5,
		ended = CASE WHEN $4 = '' OR settled >= ran THEN ended ELSE $4 END,
		settled = CASE WHEN $4 = '' OR settled >= ran THEN settled ELSE ran END,
		reason = CASE WHEN $6 = '' OR generation > ran THEN reason ELSE $6 END
		WHERE id = $1 AND fence = $2 AND replica <> '' RETURNING
			`+workColumns, w.ID, w.Fence, millis(now), ended, problem, reason)
}

// ReleaseWork ends the execution of what the job of River did, on a replica that died. A problem
// makes it a dead letter.
func (db *DB) ReleaseWork(ctx context.Context, tx *sql.Tx, job int64, problem string, now time.Time) error {
	return execute(ctx, tx, `UPDATE work SET replica = '', changed_at = $2,
		problem = CASE WHEN $3 = '' THEN problem ELSE $3 END,
		ended = CASE WHEN $3 = '' OR settled >= ran THEN ended ELSE 'dead' END,
		settled = CASE WHEN $3 = '' OR settled >= ran THEN settled ELSE ran END WHERE job = $1`, job, millis(now), problem)
}

// WorkOfReplica returns the entries that a replica runs.
func (db *DB) WorkOfReplica(ctx context.Context, replica string) ([]Work, error) {
	all, err := works(ctx, db.read, "SELECT "+workColumns+" FROM work WHERE replica = $1", replica)
	return all, db.fail("read running jobs", err)
}

// clockSlack is how far the clocks of replicas may be apart without being taken for a clock that
// was set back.
const clockSlack = time.Minute

// Parts of the statements that find what River does not run though it is wanted. Its jobs wait too
// long after the clock was set back, and if an event came while their execution ended.
const (
	jobless = `settled < generation AND NOT EXISTS (SELECT 1 FROM river_job j WHERE j.id = work.job
		AND j.finalized_at IS NULL)`
	waitsLong = `settled < generation AND EXISTS (SELECT 1 FROM river_job j WHERE j.id = work.job
		AND (j.state = 'scheduled' AND work.generation > work.ran OR j.state = 'retryable' AND work.head <> work.ran_head
		OR j.state IN ('available', 'scheduled', 'retryable') AND work.changed_at > $1%s))`
	// isDue is for SQLite. River starts what is due by the clock of the machine as well, but not before it has a leader.
	// Its times are texts.
	isDue     = " OR j.state IN ('scheduled', 'retryable') AND j.scheduled_at <= $2"
	riverTime = "2006-01-02 15:04:05.000"
)

// LateWork returns the wanted entries that no job of River does, and those whose job has to run now.
func (db *DB) LateWork(ctx context.Context, now time.Time) (without, waiting []Work, err error) {
	without, err = works(ctx, db.read, "SELECT "+workColumns+" FROM work WHERE "+jobless+" ORDER BY id LIMIT 1000")
	if err == nil {
		also, args := "", []any{millis(now.Add(clockSlack))}
		if db.engine != PostgreSQL {
			also, args = isDue, append(args, time.Now().UTC().Format(riverTime))
		}
		query := "SELECT " + workColumns + " FROM work WHERE " + fmt.Sprintf(waitsLong, also) + " ORDER BY id LIMIT 1000"
		waiting, err = works(ctx, db.read, query, args...)
	}
	return without, waiting, db.fail("read jobs", err)
}

// WorkFilter selects entries of work; empty fields select all.
type WorkFilter struct {
	States     []string
	Kind, Repo string
	ID         int64
	Limit      int
}

// ListWork returns entries, those that changed last first.
func (db *DB) ListWork(ctx context.Context, f WorkFilter) ([]Work, error) {
	query := "SELECT w." + strings.ReplaceAll(workColumns, ", ", ", w.") + ", " + workState +
		" FROM work w LEFT JOIN river_job j ON j.id = w.job WHERE TRUE"
	var args []any
	where := func(condition string, value any) {
		args = append(args, value)
		query += fmt.Sprintf(" AND "+condition, len(args))
	}
	if f.Kind != "" {
		where("w.kind = $%d", f.Kind)
	}
	if f.Repo != "" {
		where("w.repo = $%d", f.Repo)
	}
	if f.ID != 0 {
		where("w.id = $%d", f.ID)
	}
	if len(f.States) > 0 {
		query += " AND " + workState + " IN (" + parameters(len(args)+1, len(f.States)) + ")"
		for _, state := range f.States {
			args = append(args, state)
		}
	}
	args = append(args, f.Limit)
	all, err := collect(ctx, db.read, query+fmt.Sprintf(" ORDER BY w.changed_at DESC, w.id LIMIT $%d", len(args)), args,
		func(s scanner, w *Work) error { return scanWork(scanMore{s, []any{&w.State}}, w) })
	return all, db.fail("read jobs", err)
}

// WorkCount is the number of entries of a kind in a state, and since when the oldest is wanted.
type WorkCount struct {
	Kind, State string
	Number      int
	Oldest      time.Time
}

// CountWork counts the entries by kind and state.
func (db *DB) CountWork(ctx context.Context) ([]WorkCount, error) {
	query := "SELECT kind, state, COUNT(*), MIN(wanted_at) FROM (SELECT w.kind, w.wanted_at, " + workState + " AS state " +
		"FROM work w LEFT JOIN river_job j ON j.id = w.job) c GROUP BY kind, state ORDER BY kind, state"
	all, err := collect(ctx, db.read, query, nil, func(s scanner, c *WorkCount) error {
		return s.Scan(&c.Kind, &c.State, &c.Number, (*moment)(&c.Oldest))
	})
	return all, db.fail("count jobs", err)
}

// RetryWork wants an entry once more, and returns it.
func (db *DB) RetryWork(ctx context.Context, tx *sql.Tx, id int64, now time.Time) (Work, bool, error) {
	return oneWork(ctx, tx, `UPDATE work SET generation = generation + 1, wanted_at = $2,
		changed_at = CASE WHEN replica = '' THEN $2 ELSE changed_at END WHERE id = $1
			RETURNING `+workColumns, id, millis(now))
}

// CancelWork ends an entry that is wanted, or a dead letter, and returns it. The replica that runs it
// sees that it has ended.
func (db *DB) CancelWork(ctx context.Context, tx *sql.Tx, id int64, now time.Time) (Work, bool, error) {
	return oneWork(ctx, tx, `UPDATE work SET settled = generation, ended = 'cancelled', changed_at = $2
		WHERE id = $1 AND (settled < generation OR ended = 'dead') RETURNING `+workColumns, id, millis(now))
}

// PruneWork deletes entries that ended before work, and deliveries from before delivered.
func (db *DB) PruneWork(ctx context.Context, work, dead, delivered time.Time) error {
	return db.Transact(ctx, "prune jobs", func(tx *sql.Tx) error {
		err := execute(ctx, tx, `DELETE FROM work WHERE settled >= generation AND replica = ''
			AND changed_at < CASE WHEN ended = 'dead' THEN CAST($2 AS BIGINT)
				ELSE CAST($1 AS BIGINT) END`, millis(work), millis(dead))
		if err == nil {
			err = execute(ctx, tx, "DELETE FROM deliveries WHERE received < $1", millis(delivered))
		}
		return err
	})
}

// KeepReplica says that a replica lives until a time. It returns false if others took it for dead,
// unless it is added.
func (db *DB) KeepReplica(ctx context.Context, tx *sql.Tx, id string, until time.Time, add bool) (bool, error) {
	query := "UPDATE replicas SET until = $2 WHERE id = $1"
	if add {
		query = "INSERT INTO replicas (id, until) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET until = excluded.until"
	}
	n, err := affected(tx.ExecContext(ctx, query, id, millis(until)))
	return n > 0, err
}

// RemoveReplicas removes the replica with the id, or, with none, those that lived until a time.
func (db *DB) RemoveReplicas(ctx context.Context, tx *sql.Tx, id string, until time.Time) error {
	return execute(ctx, tx, "DELETE FROM replicas WHERE id = $1 OR ($1 = '' AND until < $2)", id, millis(until))
}

// Replicas returns the ids of the replicas that live.
func (db *DB) Replicas(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return collect(ctx, tx, "SELECT id FROM replicas", nil, scanOne[string])
}
