package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Work is an entry of a server's work. It belongs to the server, which works for all
// repositories: its rows are not reached through a Repo.
type Work struct {
	ID           int64
	Kind         string
	Repo         string // host/owner/name; empty for work of the server
	Pull         int
	Head, Reason string
	Generation   int64 // grows whenever the entry is wanted
	State        string
	Attempts     int // failures since the last success or new head
	Crashes      int // replicas that died while they ran it, since then
	Problem      string
	WantedAt     time.Time
	ChangedAt    time.Time // when the state changed
	DueAt        time.Time // when a waiting entry runs
	Replica      string    // where it runs; empty if it does not
	Fence        int64     // the number of its last execution
	Ticket       int64     // the id of the job that executes it
	Cancelled    int64     // the generation that a person cancelled
}

// The states of an entry of work.
const (
	WorkReady     = "ready"
	WorkWaiting   = "waiting"
	WorkRunning   = "running"
	WorkDone      = "done"
	WorkDead      = "dead"
	WorkCancelled = "cancelled"
)

const workColumns = `w.id, w.kind, w.repo, w.pull, w.head, w.reason, w.generation, w.state, w.attempts, w.crashes, w.problem,
	w.wanted_at, w.changed_at, w.due_at, w.replica, w.fence, w.ticket, w.cancelled`

func scanWork(s scanner) (Work, error) {
	var w Work
	var wanted, changed, due int64
	err := s.Scan(&w.ID, &w.Kind, &w.Repo, &w.Pull, &w.Head, &w.Reason, &w.Generation, &w.State, &w.Attempts, &w.Crashes, &w.Problem,
		&wanted, &changed, &due, &w.Replica, &w.Fence, &w.Ticket, &w.Cancelled)
	w.WantedAt, w.ChangedAt, w.DueAt = fromMillis(wanted), fromMillis(changed), fromMillis(due)
	return w, err
}

func works(ctx context.Context, q querier, query string, args ...any) ([]Work, error) {
	var all []Work
	err := rows(ctx, q, query, args, func(s scanner) error {
		w, err := scanWork(s)
		all = append(all, w)
		return err
	})
	return all, err
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

// rowsAtOnce is how many rows one statement writes: SQLite takes quadratic time for numbered
// parameters, and PostgreSQL a round trip for each statement.
const rowsAtOnce = 16

// AddDeliveries saves deliveries, and returns for each whether it is new. Their ids must differ.
func (db *DB) AddDeliveries(ctx context.Context, tx *sql.Tx, deliveries []Delivery) ([]bool, error) {
	fresh := make([]bool, len(deliveries))
	nth := make(map[[2]string]int, len(deliveries))
	for i, d := range deliveries {
		nth[[2]string{d.Forge, d.ID}] = i
	}
	for batch := range slices.Chunk(deliveries, rowsAtOnce) {
		var args []any
		for _, d := range batch {
			args = append(args, d.Forge, d.ID, d.Event, millis(d.Received))
		}
		err := rows(ctx, tx, "INSERT INTO deliveries (forge, id, event, received) VALUES "+values(len(batch), "($,$,$,$)")+
			" ON CONFLICT (forge, id) DO NOTHING RETURNING forge, id", args, func(s scanner) error {
			var key [2]string
			err := s.Scan(&key[0], &key[1])
			fresh[nth[key]] = true
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return fresh, nil
}

// values is a list of n rows like the one, in which each $ gets its number: "($1,$2),($3,$4)".
func values(n int, one string) string {
	var b strings.Builder
	number := 0
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		for _, c := range one {
			b.WriteRune(c)
			if c == '$' {
				number++
				b.WriteString(strconv.Itoa(number))
			}
		}
	}
	return b.String()
}

// Parts of the statement that wants work. A dead letter is restarted by what is new, or by a new
// head; an entry that waits after a failure, only by a new head.
const (
	newHead = "(excluded.head <> '' AND excluded.head <> work.head)"
	ended   = "work.state IN ('done', 'cancelled')"
	onWant  = ` ON CONFLICT (id) DO UPDATE SET
		generation = work.generation + excluded.generation,
		head = CASE WHEN excluded.head = '' THEN work.head ELSE excluded.head END,
		reason = excluded.reason,
		attempts = CASE WHEN ` + newHead + ` OR ` + ended + ` OR %[1]s THEN 0 ELSE work.attempts END,
		crashes = CASE WHEN ` + newHead + ` OR ` + ended + ` OR %[1]s THEN 0 ELSE work.crashes END,
		wanted_at = CASE WHEN work.state IN ('ready', 'waiting') THEN work.wanted_at ELSE excluded.wanted_at END,
		changed_at = CASE WHEN work.state = 'running' THEN work.changed_at ELSE excluded.changed_at END,
		state = CASE WHEN work.state = 'running' THEN work.state
			WHEN ` + newHead + ` OR ` + ended + ` OR %[1]s OR work.state = 'waiting' AND work.attempts = 0 THEN 'ready'
			ELSE work.state END`
)

// WantWork wants entries, whose ids must differ: it adds those that are not there, and merges the
// others. Of an entry it reads the identity, head, reason, generation (how often it is wanted) and
// WantedAt. Restarts means that dead letters start again.
func (db *DB) WantWork(ctx context.Context, tx *sql.Tx, wanted []Work, restarts bool) error {
	restart := "work.state = 'none'"
	if restarts {
		restart = "work.state = 'dead'"
	}
	for batch := range slices.Chunk(wanted, rowsAtOnce) {
		var args []any
		for _, w := range batch {
			args = append(args, w.ID, w.Kind, w.Repo, w.Pull, w.Head, w.Reason, w.Generation, millis(w.WantedAt), millis(w.WantedAt))
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO work (id, kind, repo, pull, head, reason, generation, wanted_at, changed_at,
			state, attempts, crashes, problem, due_at, replica, fence, ticket, cancelled) VALUES `+
			values(len(batch), "($,$,$,$,$,$,$,$,$,'ready',0,0,'',0,'',0,0,0)")+fmt.Sprintf(onWant, restart), args...)
		if err != nil {
			return err
		}
	}
	return nil
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
	query, args := "SELECT "+workColumns+" FROM work w WHERE TRUE", []any{}
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
		err := inBatches(f.States, len(args)+1, func(numbers string, states []any) error {
			query, args = query+" AND w.state IN ("+numbers+")", append(args, states...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	args = append(args, f.Limit)
	all, err := works(ctx, db.read, query+fmt.Sprintf(" ORDER BY w.changed_at DESC, w.id LIMIT $%d", len(args)), args...)
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
	var all []WorkCount
	err := rows(ctx, db.read, "SELECT w.kind, w.state, COUNT(*), MIN(w.wanted_at) FROM work w GROUP BY w.kind, w.state ORDER BY w.kind, w.state", nil, func(s scanner) error {
		var c WorkCount
		var oldest int64
		err := s.Scan(&c.Kind, &c.State, &c.Number, &oldest)
		c.Oldest = fromMillis(oldest)
		all = append(all, c)
		return err
	})
	return all, db.fail("count jobs", err)
}

// RetryWork makes an entry ready, with all attempts; one that runs is run once more. CancelWork
// ends it.
func (db *DB) RetryWork(ctx context.Context, tx *sql.Tx, id int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE work SET generation = generation + 1, attempts = 0, crashes = 0, cancelled = 0, wanted_at = $2,
		changed_at = CASE WHEN state = 'running' THEN changed_at ELSE $2 END,
		state = CASE WHEN state = 'running' THEN state ELSE 'ready' END WHERE id = $1`, id, millis(now))
	return err
}

// CancelWork ends an entry that has not ended. The replica that runs one sees that it is cancelled.
func (db *DB) CancelWork(ctx context.Context, tx *sql.Tx, id int64, now time.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE work SET
		cancelled = CASE WHEN state = 'running' THEN generation ELSE 0 END,
		changed_at = CASE WHEN state = 'running' THEN changed_at ELSE $2 END,
		state = CASE WHEN state = 'running' THEN state ELSE 'cancelled' END
		WHERE id = $1 AND state IN ('ready', 'waiting', 'running', 'dead')`, id, millis(now))
	return err
}

// WorkOfRepo returns all entries of a repository.
func (db *DB) WorkOfRepo(ctx context.Context, tx *sql.Tx, repo string) ([]Work, error) {
	return works(ctx, tx, "SELECT "+workColumns+" FROM work w WHERE w.repo = $1 ORDER BY w.id", repo)
}

// MoveWork gives an entry that does not run the id and the name that its repository has now. If there
// is an entry with that id, it deletes this one and returns false.
func (db *DB) MoveWork(ctx context.Context, tx *sql.Tx, from, to int64, repo string) (bool, error) {
	result, err := tx.ExecContext(ctx, `UPDATE work SET id = $2, repo = $3 WHERE id = $1 AND state <> 'running'
		AND NOT EXISTS (SELECT 1 FROM work o WHERE o.id = $2)`, from, to, repo)
	if err != nil {
		return false, err
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return true, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM work WHERE id = $1 AND state <> 'running'", from)
	return false, err
}

// PruneWork deletes entries that ended before ended, dead letters from before dead, and deliveries
// from before delivered.
func (db *DB) PruneWork(ctx context.Context, ended, dead, delivered time.Time) error {
	return db.Transact(ctx, "prune jobs", func(tx *sql.Tx) error {
		for _, step := range []struct {
			sql string
			at  []any
		}{
			{"DELETE FROM work WHERE state IN ('done', 'cancelled') AND changed_at < $1", []any{millis(ended)}},
			{"DELETE FROM work WHERE state = 'dead' AND changed_at < $1", []any{millis(dead)}},
			{"DELETE FROM deliveries WHERE received < $1", []any{millis(delivered)}},
			{"DELETE FROM work_turns WHERE repo <> '*' AND NOT EXISTS (SELECT 1 FROM work w WHERE w.repo = work_turns.repo)", nil},
		} {
			if _, err := tx.ExecContext(ctx, step.sql, step.at...); err != nil {
				return err
			}
		}
		return nil
	})
}
