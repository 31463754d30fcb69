package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/store"
)

// entry are the arguments of River's job for an entry of work. What it does is read when it runs.
type entry struct {
	Work string `json:"kind"`
	Repo string `json:"repo"`
	Pull int    `json:"pull"`
}

// Kind names the jobs in River's tables.
func (entry) Kind() string { return "work" }

// InsertOpts allows one job for an entry that has not ended.
func (entry) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}}}
}

type worker struct {
	river.WorkerDefaults[entry]
	queue *Queue
}

func (w *worker) Work(ctx context.Context, job *river.Job[entry]) error {
	return w.queue.serve(ctx, job)
}

func (w *worker) Timeout(job *river.Job[entry]) time.Duration {
	if limit, ok := w.queue.o.Timeout[Kind(job.Args.Work)]; ok {
		return limit
	}
	return defaultTimeout
}

// NextRetry is when a job that failed runs again.
func (w *worker) NextRetry(job *river.Job[entry]) time.Time {
	return time.Now().Add(w.queue.retryAfter(job.Attempt))
}

// firstRetry and maxRetry bound the time before a retry. It doubles with each failure, and is a
// random part of that.
const (
	firstRetry = 10 * time.Second
	maxRetry   = 15 * time.Minute
)

// retryAfter is how long to wait after a number of failures, with full jitter.
func (q *Queue) retryAfter(failures int) time.Duration {
	longest := backoff.Policy{First: firstRetry, Max: maxRetry}.Bound(failures)
	return time.Duration(q.o.Random() * float64(longest))
}

const (
	// riverConnections are for River's own statements on PostgreSQL. On SQLite it gets one.
	riverConnections = 4
	// keepDone is how long River keeps jobs that are done: work says the rest.
	keepDone = 10 * time.Minute
	// rescueMargin is how much longer than a job may run River waits until it runs it again. A
	// replica that dies is noticed earlier (rescue).
	rescueMargin = time.Hour
)

func (q *Queue) openRiver(ctx context.Context) error {
	onPostgreSQL := q.db.Engine() == store.PostgreSQL
	connections := 1
	if onPostgreSQL {
		connections = riverConnections
	}
	var err error
	if q.pool, err = q.db.Pool(connections); err != nil {
		return err
	}
	longest := defaultTimeout
	for _, t := range q.o.Timeout {
		longest = max(longest, t)
	}
	log := slog.New(quiet{q.o.Log.Handler()})
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{queue: q})
	config := &river.Config{
		ID:                          q.o.Replica,
		Logger:                      log,
		Workers:                     workers,
		Queues:                      map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: q.o.Slots}},
		FetchCooldown:               min(q.o.Poll, river.FetchCooldownDefault),
		FetchPollInterval:           q.o.Poll,
		RescueStuckJobsAfter:        longest + rescueMargin,
		MaxAttempts:                 maxAttempts,
		Hooks:                       []rivertype.Hook{river.HookInsertBeginFunc(inLine)},
		CompletedJobRetentionPeriod: keepDone,
		CancelledJobRetentionPeriod: keepDead,
		DiscardedJobRetentionPeriod: keepDead,
	}
	var driver riverdriver.Driver[*sql.Tx] = riverdatabasesql.New(q.pool)
	if !onPostgreSQL {
		driver = riversqlite.New(q.pool)
		config.ReindexerSchedule = river.NeverSchedule() // of indexes that only PostgreSQL has
	}
	if err := migrate(ctx, driver, log); err != nil {
		return err
	}
	q.client, err = river.NewClient(driver, config)
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

// Places in River's line. Its jobs begin in the order of their times, so a job gets a time by how
// many of its repository stand in line: those of a repository with little work pass those of one
// that floods, which wait at most lineLength longer for that.
const (
	placeLength = time.Second
	lineLength  = 10 * time.Minute
)

// inLine makes a new job ready: for River, one that has a time waits until it is noticed that the time
// has come.
func inLine(_ context.Context, job *rivertype.JobInsertParams) error {
	job.State = rivertype.JobStateAvailable
	return nil
}

// issue makes sure that each wanted entry has a job of River, which runs now if it waits for
// something that the entry does not wait for any more.
func (q *Queue) issue(ctx context.Context, tx *sql.Tx, all []store.Work) error {
	var jobs []river.InsertManyParams
	wanted := map[entry]store.Work{}
	queued, err := q.db.Queued(ctx, tx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if !w.Wanted() {
			continue
		}
		args := entry{Work: w.Kind, Repo: w.Repo, Pull: w.Pull}
		wanted[args] = w
		place := time.Duration(queued[w.Repo]) * placeLength
		queued[w.Repo]++
		at := time.Now().Add(min(place, lineLength) - lineLength)
		jobs = append(jobs, river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{ScheduledAt: at}})
	}
	if len(jobs) == 0 {
		return nil
	}
	inserted, err := q.client.InsertManyTx(ctx, tx, jobs)
	if err != nil {
		return err
	}
	for _, is := range inserted {
		var args entry
		if err := json.Unmarshal(is.Job.EncodedArgs, &args); err != nil {
			return err
		}
		w := wanted[args]
		if is.Job.ID != w.Job {
			if err := q.db.SetWorkJob(ctx, tx, w.ID, is.Job.ID); err != nil {
				return err
			}
		}
		if is.UniqueSkippedAsDuplicate && isDue(w, is.Job.State) {
			if _, err := q.client.JobRetryTx(ctx, tx, is.Job.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDue reports whether an event makes a job run now that waits. A retry waits, but not for an older
// head.
func isDue(w store.Work, state rivertype.JobState) bool {
	return state == rivertype.JobStateScheduled || state == rivertype.JobStateRetryable && w.Head != w.RanHead
}

// gone ignores that a job of River is gone.
func gone(_ *rivertype.JobRow, err error) error {
	if errors.Is(err, rivertype.ErrNotFound) {
		return nil
	}
	return err
}

// quiet passes on what River says about errors, as warnings: it tries again on its own.
type quiet struct{ slog.Handler }

// Enabled drops everything that is not about an error.
func (h quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelError && h.Handler.Enabled(ctx, slog.LevelWarn)
}

// Handle passes a record on as a warning. River calls errors err or error.
func (h quiet) Handle(ctx context.Context, r slog.Record) error {
	warning := slog.NewRecord(r.Time, slog.LevelWarn, r.Message, 0)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			a.Key = "error"
		}
		warning.AddAttrs(a)
		return true
	})
	return h.Handler.Handle(ctx, warning)
}

func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{h.Handler.WithAttrs(attrs)} }

func (h quiet) WithGroup(name string) slog.Handler { return quiet{h.Handler.WithGroup(name)} }
