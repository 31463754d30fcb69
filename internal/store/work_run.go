package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// oneRound selects what may run beside what runs: at most one review or fix of a pull request, so
// that two rounds of it never push or review at the same time.
const oneRound = `(w.kind NOT IN ('review', 'fix') OR NOT EXISTS (SELECT 1 FROM work b
	WHERE b.state = 'running' AND b.repo = w.repo AND b.pull = w.pull AND b.kind IN ('review', 'fix')))`

// ClaimWork gives the replica the entry that is next, and the number of the execution. Next is an
// entry of the repository with the fewest that run, then of that which was served longest ago. A
// repository has at most most running on one replica, and a pull request one review or fix. It returns false if there is none.
func (db *DB) ClaimWork(ctx context.Context, tx *sql.Tx, replica string, ticket int64, most int, now time.Time) (Work, bool, error) {
	var turn int64
	err := row(ctx, tx, `INSERT INTO work_turns (repo, turn) VALUES ('*', 1)
		ON CONFLICT (repo) DO UPDATE SET turn = work_turns.turn + 1 RETURNING turn`, nil, into(&turn))
	if err != nil {
		return Work{}, false, err
	}
	next, err := works(ctx, tx, "SELECT "+workColumns+` FROM work w
		LEFT JOIN work_turns t ON t.repo = w.repo
		LEFT JOIN (SELECT o.repo, COUNT(*) AS everywhere, SUM(CASE WHEN o.replica = $1 THEN 1 ELSE 0 END) AS here
			FROM work o WHERE o.state = 'running' GROUP BY o.repo) r ON r.repo = w.repo
		WHERE w.state = 'ready' AND COALESCE(r.here, 0) < $2 AND EXISTS (SELECT 1 FROM replicas p WHERE p.id = $1) AND `+oneRound+`
		ORDER BY COALESCE(r.everywhere, 0), COALESCE(t.turn, 0), w.wanted_at, w.id LIMIT 1`, replica, most)
	if err != nil || len(next) == 0 {
		return Work{}, false, err
	}
	w := next[0]
	w.State, w.Replica, w.Fence, w.Ticket, w.ChangedAt, w.Cancelled = WorkRunning, replica, turn, ticket, now, 0
	// Another transaction may have wanted it since, with a newer head.
	err = row(ctx, tx, `UPDATE work SET state = 'running', replica = $2, fence = $3, ticket = $4, changed_at = $5, cancelled = 0
		WHERE id = $1 AND state = 'ready' RETURNING generation, head, attempts, crashes`,
		[]any{w.ID, replica, turn, ticket, millis(now)}, into(&w.Generation, &w.Head, &w.Attempts, &w.Crashes))
	if errors.Is(err, sql.ErrNoRows) {
		return Work{}, false, nil
	}
	if err != nil {
		return Work{}, false, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO work_turns (repo, turn) VALUES ($1, $2) ON CONFLICT (repo) DO UPDATE SET turn = excluded.turn", w.Repo, turn)
	return w, true, err
}

// WorkEnd is how an execution of an entry ended.
type WorkEnd struct {
	// State is WorkDone; WorkReady if it has to run again for no fault of its own; WorkWaiting if it
	// is due After now; WorkDead if it must not run again.
	State   string
	Failed  bool // counts as an attempt, with the Problem; WorkWaiting becomes WorkDead after Most
	Most    int
	After   time.Duration
	Problem string
	Reason  string // why it is due then, of WorkWaiting without Failed; empty to keep what caused the execution
}

// Parts of the statement that ends an execution: whether it was wanted again meanwhile, and
// whether a person cancelled it.
const (
	wantedAgain = "(generation > $5 AND generation > cancelled)"
	wasHead     = "(head = $6)"
	cancelled   = "(cancelled > 0 AND generation <= cancelled)"
)

// endings are the new states by the one that WorkEnd asks for.
var endings = map[string]string{
	WorkDone:  "CASE WHEN " + wantedAgain + " THEN 'ready' ELSE 'done' END",
	WorkReady: "CASE WHEN " + cancelled + " THEN 'cancelled' ELSE 'ready' END",
	WorkDead:  "CASE WHEN " + wantedAgain + " THEN 'ready' WHEN " + cancelled + " THEN 'cancelled' ELSE 'dead' END",
	WorkWaiting: "CASE WHEN " + wantedAgain + " AND ($9 = 0 OR NOT " + wasHead + ") THEN 'ready' WHEN " + cancelled + " THEN 'cancelled'" +
		" WHEN $9 = 1 AND attempts + 1 >= $10 AND NOT " + wantedAgain + " THEN 'dead' ELSE 'waiting' END",
}

// EndWork ends an execution. It returns false, and changes nothing, if the replica no longer has
// the entry.
func (db *DB) EndWork(ctx context.Context, tx *sql.Tx, w Work, end WorkEnd, now time.Time) (bool, error) {
	state, ok := endings[end.State]
	if !ok {
		return false, errors.New("no ending: " + end.State)
	}
	result, err := tx.ExecContext(ctx, `UPDATE work SET replica = '', changed_at = $4, due_at = $7, problem = $8, cancelled = 0,
		attempts = CASE WHEN $11 = 'done' OR NOT `+wasHead+` THEN 0 ELSE attempts + $9 END,
		crashes = CASE WHEN $11 = 'ready' AND `+wasHead+` THEN crashes ELSE 0 END,
		wanted_at = CASE WHEN `+wantedAgain+` THEN wanted_at ELSE $4 END,
		reason = CASE WHEN $12 = '' OR `+wantedAgain+` THEN reason ELSE $12 END,
		state = `+state+` WHERE id = $1 AND fence = $2 AND replica = $3 AND state = 'running' AND $10 >= 0`,
		w.ID, w.Fence, w.Replica, millis(now), w.Generation, w.Head, millis(now.Add(end.After)), end.Problem, zeroOne(end.Failed), end.Most, end.State, end.Reason)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// RunningWork returns the entries that the replica runs.
func (db *DB) RunningWork(ctx context.Context, replica string) ([]Work, error) {
	all, err := works(ctx, db.read, "SELECT "+workColumns+" FROM work w WHERE w.state = 'running' AND w.replica = $1", replica)
	return all, db.fail("read running jobs", err)
}

// ReleaseWork makes the entries of a replica that no longer runs ready. Crashed counts it against
// them: an entry becomes a dead letter, with the problem, the most-th time. It returns their tickets.
func (db *DB) ReleaseWork(ctx context.Context, tx *sql.Tx, replica string, crashed bool, most int, problem string, now time.Time) ([]int64, error) {
	running, err := works(ctx, tx, "SELECT "+workColumns+" FROM work w WHERE w.state = 'running' AND w.replica = $1", replica)
	var tickets []int64
	for _, w := range running {
		if err == nil {
			tickets = append(tickets, w.Ticket)
			_, err = tx.ExecContext(ctx, `UPDATE work SET replica = '', changed_at = $4, wanted_at = $4, cancelled = 0, crashes = crashes + $5,
				problem = CASE WHEN crashes + $5 >= $6 THEN $7 ELSE problem END,
				state = CASE WHEN `+cancelled+` THEN 'cancelled' WHEN crashes + $5 >= $6 THEN 'dead' ELSE 'ready' END
				WHERE id = $1 AND fence = $2 AND replica = $3`, w.ID, w.Fence, replica, millis(now), zeroOne(crashed), most, problem)
		}
	}
	return tickets, err
}

// clockSlack is how far the clocks of replicas may be apart without being taken for a clock that
// was set back.
const clockSlack = time.Minute

// WakeWork makes waiting entries that are due ready. After the clock was set back, all are due.
func (db *DB) WakeWork(ctx context.Context, tx *sql.Tx, now time.Time) error {
	due, err := works(ctx, tx, "SELECT "+workColumns+" FROM work w WHERE "+isDue+" ORDER BY w.id", millis(now), millis(now.Add(clockSlack)))
	for _, w := range due {
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE work SET state = 'ready', changed_at = $2, wanted_at = $2 WHERE id = $1 AND state = 'waiting'", w.ID, millis(now))
		}
	}
	return err
}

// isDue selects waiting entries that are due.
const isDue = "w.state = 'waiting' AND (w.due_at <= $1 OR w.changed_at > $2)"

// WorkPending tells whether entries could run, or are due, at a time.
func (db *DB) WorkPending(ctx context.Context, now time.Time) (bool, error) {
	var n int
	err := row(ctx, db.read, "SELECT COUNT(*) FROM (SELECT w.id FROM work w WHERE w.state = 'ready' OR ("+isDue+") LIMIT 1) p",
		[]any{millis(now), millis(now.Add(clockSlack))}, into(&n))
	return n > 0, db.fail("read jobs", err)
}

// Runnable counts the ready entries, at most limit, that ClaimWork may give to a replica now: their
// repositories have fewer running than most on each replica.
func (db *DB) Runnable(ctx context.Context, tx *sql.Tx, most, limit int) (int, error) {
	var n int
	err := row(ctx, tx, `SELECT COUNT(*) FROM (SELECT w.id FROM work w
		LEFT JOIN (SELECT o.repo, COUNT(*) AS everywhere FROM work o WHERE o.state = 'running' GROUP BY o.repo) r ON r.repo = w.repo
		WHERE w.state = 'ready' AND COALESCE(r.everywhere, 0) < $1 * (SELECT COUNT(*) FROM replicas) AND `+oneRound+` LIMIT $2) p`, []any{most, limit}, into(&n))
	return n, err
}

// BeginPeriod returns true once in an interval for a kind, over all replicas.
func (db *DB) BeginPeriod(ctx context.Context, tx *sql.Tx, kind string, interval time.Duration, now time.Time) (bool, error) {
	result, err := tx.ExecContext(ctx, `INSERT INTO work_periods (kind, at) VALUES ($1, $2) ON CONFLICT (kind) DO UPDATE SET at = excluded.at
		WHERE work_periods.at <= $3 OR work_periods.at > $4`, kind, millis(now), millis(now.Add(-interval)), millis(now.Add(clockSlack)))
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// Periods returns when the last period of each kind began.
func (db *DB) Periods(ctx context.Context) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	err := rows(ctx, db.read, "SELECT kind, at FROM work_periods", nil, func(s scanner) error {
		var kind string
		var at int64
		err := s.Scan(&kind, &at)
		all[kind] = fromMillis(at)
		return err
	})
	return all, db.fail("read periods", err)
}
