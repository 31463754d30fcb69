package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/precedent-dev/precedent/internal/store"
)

// ticket are the arguments of a River job: they do not say what to do.
type ticket struct {
	Version int `json:"version"`
}

// ticketVersion is the version of tickets that this program knows.
const ticketVersion = 1

// Kind names the jobs in River's tables.
func (ticket) Kind() string { return "work" }

// worker executes tickets.
type worker struct {
	river.WorkerDefaults[ticket]
	queue *Queue
}

// Work runs one entry. A ticket of another version is cancelled, and the sweep issues a new one.
func (w *worker) Work(ctx context.Context, job *river.Job[ticket]) error {
	if job.Args.Version != ticketVersion {
		return river.JobCancel(errors.New("a ticket of another version of precedent"))
	}
	return w.queue.serve(ctx, job.ID)
}

const (
	// riverConnections are for River's own statements on PostgreSQL. On SQLite it gets one.
	riverConnections = 4
	// ticketMargin is how much longer than a job River lets a ticket run.
	ticketMargin = time.Hour
	// keepTickets is how long River keeps tickets that are used up.
	keepTickets = 10 * time.Minute
)

// openRiver makes River's tables and its client.
func (q *Queue) openRiver(ctx context.Context) error {
	connections := 1
	if q.db.Engine() == store.PostgreSQL {
		connections = riverConnections
	}
	var err error
	if q.pool, err = q.db.Pool(connections); err != nil {
		return err
	}
	var driver riverdriver.Driver[*sql.Tx] = riversqlite.New(q.pool)
	if q.db.Engine() == store.PostgreSQL {
		driver = riverdatabasesql.New(q.pool)
	}
	log := slog.New(quiet{q.o.Log.Handler()})
	if err := migrate(ctx, driver, log); err != nil {
		return err
	}
	longest := defaultTimeout
	for _, t := range q.o.Timeout {
		longest = max(longest, t)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{queue: q})
	var reindex river.PeriodicSchedule // every day
	if q.db.Engine() == store.SQLite {
		reindex = river.NeverSchedule() // River names indexes that it has on PostgreSQL only
	}
	q.client, err = river.NewClient(driver, &river.Config{
		ID:                          q.o.Replica,
		Logger:                      log,
		Workers:                     workers,
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.o.Slots}},
		FetchCooldown:               min(q.o.Poll, 20*time.Millisecond),
		FetchPollInterval:           q.o.Poll,
		JobTimeout:                  longest + ticketMargin,
		RescueStuckJobsAfter:        longest + 2*ticketMargin,
		MaxAttempts:                 3,
		ReindexerSchedule:           reindex,
		CompletedJobRetentionPeriod: keepTickets,
		CancelledJobRetentionPeriod: keepTickets,
		DiscardedJobRetentionPeriod: keepTickets,
	})
	return err
}

// migrate makes River's tables. Several processes may do it at once: the one that loses the race
// fails, and tries again.
func migrate(ctx context.Context, driver riverdriver.Driver[*sql.Tx], log *slog.Logger) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: log})
	if err != nil {
		return err
	}
	for range 50 {
		var state *rivermigrate.ValidateResult
		if state, err = m.Validate(ctx); err == nil && state.OK {
			return nil
		}
		if _, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// issueTickets makes sure that there are as many tickets as entries that could run now, but not
// more than this replica has slots: each that is used issues new ones.
func (q *Queue) issueTickets(ctx context.Context, tx *sql.Tx) error {
	wanted, err := q.db.Runnable(ctx, tx, q.share(), q.o.Slots)
	if err != nil || wanted == 0 {
		return err
	}
	var have int
	err = tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM (SELECT id FROM river_job WHERE state = 'available' LIMIT $1) t", q.o.Slots).Scan(&have)
	if err != nil || have >= wanted {
		return err
	}
	tickets := make([]river.InsertManyParams, wanted-have)
	for i := range tickets {
		tickets[i].Args = ticket{Version: ticketVersion}
	}
	if _, err := q.client.InsertManyFastTx(ctx, tx, tickets); err != nil {
		return err
	}
	// River runs what is scheduled for the past: a clock that is set back must not make tickets wait.
	_, err = tx.ExecContext(ctx, "UPDATE river_job SET scheduled_at = '2000-01-01 00:00:00' WHERE state = 'available' AND scheduled_at > '2000-01-02 00:00:00'")
	return err
}

// returnTickets makes tickets of a replica that no longer runs available again.
func returnTickets(ctx context.Context, tx *sql.Tx, tickets []int64) error {
	for _, id := range tickets {
		if _, err := tx.ExecContext(ctx, "UPDATE river_job SET state = 'available' WHERE state = 'running' AND id = $1", id); err != nil {
			return err
		}
	}
	return nil
}

// share is how many entries of one repository run here at the same time.
func (q *Queue) share() int { return q.o.Slots - 1 }

// quiet passes on what River says about errors, as warnings: it tries again on its own.
type quiet struct{ slog.Handler }

// Enabled drops everything that is not about an error.
func (h quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && h.Handler.Enabled(ctx, slog.LevelWarn)
}

// Handle passes a record on as a warning.
func (h quiet) Handle(ctx context.Context, r slog.Record) error {
	r.Level = slog.LevelWarn
	return h.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler quiet.
func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{h.Handler.WithAttrs(attrs)} }

// WithGroup keeps the handler quiet.
func (h quiet) WithGroup(name string) slog.Handler { return quiet{h.Handler.WithGroup(name)} }
