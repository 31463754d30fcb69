package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// change changes the database behind the back of the queue.
func change(t testing.TB, db *store.DB, query string, args ...any) {
	t.Helper()
	needs.NoError(t, db.Transact(t.Context(), "test", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), query, args...)
		return err
	}))
}

// TestFault1NothingOfAFailedDelivery: what fails before its commit leaves neither a delivery nor
// work, and does not fail its neighbours.
func TestFault1NothingOfAFailedDelivery(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		q := opened(t, db, Options{})
		change(t, db, "CREATE UNIQUE INDEX one_bad_event ON deliveries (event)") // two deliveries with one event fail
		defer change(t, db, "DROP INDEX one_bad_event")
		accept := func(id, event string, pull int) (bool, error) {
			return q.Accept(t.Context(), Delivery{Forge: "github", ID: id, Event: event}, []Task{review(app, pull, "a")})
		}
		if fresh, err := accept("0", "bad", 100); !fresh || err != nil {
			t.Fatal(fresh, err)
		}
		var group sync.WaitGroup
		for i := 1; i <= 40; i++ {
			group.Go(func() {
				event := fmt.Sprint("good", i)
				if i%10 == 0 {
					event = "bad"
				}
				if fresh, err := accept(fmt.Sprint(i), event, i); fresh == (event == "bad") || (err == nil) == (event == "bad") {
					t.Errorf("%s: %v, %v", event, fresh, err)
				}
			})
		}
		group.Wait()
		for _, j := range jobs(t, q) {
			if j.Pull != 100 && j.Pull%10 == 0 {
				t.Errorf("a failed delivery left %+v", j)
			}
		}
		if n := len(jobs(t, q)); n != 37 {
			t.Errorf("%d jobs, want 37", n)
		}
	})
}

// TestFault3ManyCopies: "100 concurrent copies of one delivery: 1 row, 1 job, all 202", and one that the sender repeats
// after a restart, because it saw no answer (fault row 2).
func TestFault3ManyCopies(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var runs, fresh atomic.Int64
		q := started(t, db, Options{Do: func(context.Context, *Run) error { runs.Add(1); return nil }})
		var group sync.WaitGroup
		for range 100 {
			group.Go(func() {
				is, err := q.Accept(t.Context(), Delivery{Forge: "github", ID: "x", Event: "push"}, []Task{review(app, 1, "a")})
				if err != nil {
					t.Error(err)
				}
				if is {
					fresh.Add(1)
				}
			})
		}
		group.Wait()
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		stop(t, q)
		for forge, want := range map[string]bool{"github": false, "gitea": true} { // whose ids are its own
			d := Delivery{Forge: forge, ID: "x", Event: "push"}
			needs.Result(t, forge, want)(opened(t, db, Options{}).Accept(t.Context(), d, nil))
		}
		if runs.Load() != 1 || fresh.Load() != 1 {
			t.Errorf("%d runs, %d new", runs.Load(), fresh.Load())
		}
	})
}

// TestFault4BurstOfEvents: the events of one pull request coalesce to one run for the newest head.
func TestFault4BurstOfEvents(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		var mu sync.Mutex
		var heads []string
		q := opened(t, db, Options{Do: func(_ context.Context, r *Run) error {
			mu.Lock()
			defer mu.Unlock()
			heads = append(heads, r.Head)
			return nil
		}})
		for i := range 10 {
			accept(t, q, fmt.Sprint(i), review(app, 1, fmt.Sprint("head", i)))
		}
		accept(t, q, "labelled", review(app, 1, ""))
		needs.NoError(t, q.Start(t.Context()))
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		if len(heads) != 1 || heads[0] != "head9" {
			t.Errorf("ran %v", heads)
		}
	})
}

// TestFault5Locked: while the database is locked, Accept gives up in time, leaves no goroutine, and
// works afterwards.
func TestFault5Locked(t *testing.T) {
	test := func(t *testing.T, place string) {
		db := openAt(t, place)
		q := opened(t, db, Options{})
		accept(t, q, "0", review(app, 1, "a"))
		pool := needs.Value(db.Pool(1))(t)
		defer pool.Close()
		tx := needs.Value(pool.BeginTx(t.Context(), nil))(t)
		needs.Value(tx.ExecContext(t.Context(), "UPDATE deliveries SET event = 'locked'"))(t)
		if db.Engine() == store.PostgreSQL {
			needs.Value(tx.ExecContext(t.Context(), "LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE"))(t)
		}
		limit := q.commitTimeout
		q.commitTimeout = 500 * time.Millisecond
		before := runtime.NumGoroutine()
		var group sync.WaitGroup
		for i := range 300 {
			group.Go(func() {
				if _, err := q.Accept(t.Context(), Delivery{Forge: "github", ID: fmt.Sprint("locked", i), Event: "push"},
					[]Task{review(app, i, "a")}); err == nil {
					t.Error("accepted while it was locked")
				}
			})
		}
		group.Wait()
		needs.NoError(t, tx.Rollback())
		q.commitTimeout = limit
		needs.WaitUntil(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= before })
		accept(t, q, "locked1", review(app, 1, "b"))
	}
	// One after the other: goroutines are counted.
	t.Run("sqlite", func(t *testing.T) { test(t, newFile(t)) })
	t.Run("postgresql", func(t *testing.T) { test(t, emptied(t)) })
}

// TestFault10ClockJumps: a clock that jumps by two hours, either way, neither loses nor doubles a
// run, and does not make retries wait.
func TestFault10ClockJumps(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var offset atomic.Int64
		now := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
		var running, runs atomic.Int64
		failed := map[int]bool{}
		var mu sync.Mutex
		q := started(t, db, Options{
			Now: now, Slots: 6, Lease: 10 * time.Second, Random: func() float64 { return 0.001 },
			Do: func(ctx context.Context, r *Run) error {
				if r.Pull == 1 {
					if running.Add(1) > 1 {
						t.Error("runs twice at the same time")
					}
					defer running.Add(-1)
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(50 * time.Millisecond):
				}
				mu.Lock()
				defer mu.Unlock()
				if !failed[r.Pull] {
					failed[r.Pull] = true
					return errors.New("once")
				}
				runs.Add(1)
				return r.Check(ctx)
			},
		})
		pull := 0
		for _, jump := range []time.Duration{2 * time.Hour, -2 * time.Hour, -2 * time.Hour, 2 * time.Hour} {
			for range 5 {
				pull++
				accept(t, q, fmt.Sprint(pull), review(app, pull, "a"))
			}
			mu.Lock() // between the failure and the retry of some
			offset.Add(int64(jump))
			mu.Unlock()
			needs.WaitUntil(t, "done after a jump of "+jump.String(), func() bool { return done(t, q, pull) })
		}
		if runs.Load() != int64(pull) {
			t.Errorf("%d runs of %d pull requests", runs.Load(), pull)
		}
	})
}

// TestFault14Panics: a job that panics each time becomes a dead letter after its attempts, and the
// next job of the repository runs.
func TestFault14Panics(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int64
		token := "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
		var log strings.Builder
		q := started(t, db, Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)), Random: func() float64 { return 0 },
			Redact: func(s string) string { return strings.ReplaceAll(s, "our own secret", "[ours]") },
			Do: func(_ context.Context, r *Run) error {
				if r.Pull == 1 {
					if n := runs.Add(1); int64(r.Attempt) != n {
						t.Errorf("run %d is attempt %d", n, r.Attempt)
					}
					panic("\x1b[31m our own secret " + token + strings.Repeat(" long", 1000))
				}
				return nil
			},
		})
		accept(t, q, "1", review(app, 1, "a"))
		needs.WaitUntil(t, "dead", func() bool { return only(t, q).State == Dead })
		accept(t, q, "2", review(app, 2, "a"))
		needs.WaitUntil(t, "the next one is done", func() bool { return len(jobs(t, q)) == 2 && jobs(t, q)[0].State == Done })
		j := jobs(t, q)[1]
		if runs.Load() != 8 || j.Attempts != 8 || !strings.HasPrefix(j.Problem, "panic: <U+001B>[31m [ours] ") ||
			strings.Contains(j.Problem, token) || len(j.Problem) > 2*maxProblem {
			t.Errorf("after %d runs: %+v", runs.Load(), j)
		}
		if s, err := q.Stats(t.Context()); err != nil || s.Dead != 1 || s.Kinds[Review].Dead != 1 {
			t.Errorf("%+v, %v", s, err)
		}
		stop(t, q)
		if said := log.String(); strings.Contains(said, "our own secret") || strings.Contains(said, token) ||
			!strings.Contains(said, `attempt=8`) || !strings.Contains(said, "[ours]") {
			t.Error(said)
		}
	})
}

// TestFault15Garbage: rows and jobs of other versions, or garbage, become dead letters that say
// why, and are not tried again and again.
func TestFault15Garbage(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int64
		q := opened(t, db, Options{Do: func(context.Context, *Run) error { runs.Add(1); return nil }})
		for i := range 3 {
			accept(t, q, fmt.Sprint(i), review(app, i+1, "a"))
		}
		change(t, db, "UPDATE work SET kind = 'review-v0' WHERE pull = 1")
		change(t, db, "UPDATE work SET repo = '///' WHERE pull = 2")
		for _, job := range []string{
			`'{"version":0}', 'work'`, `'[]', 'work'`, `'{"version":"x"}', 'work'`, `'{"version":99,"pull":7}', 'work'`,
			`'{}', 'another'`,
		} {
			change(t, db, "INSERT INTO river_job (args, kind, max_attempts, queue, state) VALUES ("+
				job+", 3, 'default', 'available')")
		}
		needs.NoError(t, q.Start(t.Context()))
		needs.WaitUntil(t, "the good one is done, the others are dead", func() bool {
			states := map[State]int{}
			for _, j := range jobs(t, q) {
				states[j.State]++
			}
			return states[Done] == 1 && states[Dead] == 2
		})
		for _, j := range jobs(t, q) {
			why := map[int]string{1: `no jobs of the kind "review-v0"`, 2: "not a repository identity"}[j.Pull]
			if !strings.Contains(j.Problem, why) {
				t.Errorf("%+v", j)
			}
		}
		if runs.Load() != 1 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// TestFault16TwoReplicas: two replicas on one database run each job once at a time, and periodic
// jobs once an interval.
func TestFault16TwoReplicas(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var mu sync.Mutex
		running, ran, fences := map[int64]bool{}, map[int64]int{}, map[int64]bool{}
		do := func(_ context.Context, r *Run) error {
			mu.Lock()
			defer mu.Unlock()
			if running[r.ID] || fences[r.work.Fence] {
				t.Errorf("%+v runs twice", r.Task)
			}
			running[r.ID], fences[r.work.Fence] = true, true
			mu.Unlock()
			<-time.After(2 * time.Millisecond)
			mu.Lock()
			running[r.ID] = false
			ran[r.ID]++
			return nil
		}
		var replicas [2]*Queue
		for i := range replicas {
			replicas[i] = opened(t, db, Options{Do: do})
			replicas[i].Every(Sweep, time.Hour)
			needs.NoError(t, replicas[i].Start(t.Context()))
			// On SQLite a process that starts takes over what another one runs.
			needs.WaitUntil(t, "swept", func() bool { return done(t, replicas[i], 1) })
		}
		for i := range 60 {
			accept(t, replicas[i%2], fmt.Sprint(i), review(app, i+1, "a"))
		}
		needs.WaitUntil(t, "done", func() bool { return done(t, replicas[0], 61) })
		for id, n := range ran {
			if n != 1 {
				t.Errorf("%d ran %d times", id, n)
			}
		}
	})
}

// gaveUp is a log that tells when River no longer tries to save how jobs ended.
type gaveUp chan struct{}

func (g gaveUp) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "giving up") {
		select {
		case g <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// TestFault57DatabaseRestarted: PostgreSQL crashes while jobs run, and does not start again before it was given up to
// save how they ended: they run again, and those that waited run, without a restart of the replica.
func TestFault57DatabaseRestarted(t *testing.T) {
	needs.Soak(t, "waits a minute until jobs run again whose ends could not be saved")
	server := needs.SharedPostgreSQL(t)
	var began atomic.Int64
	crash, lost := make(chan struct{}), make(gaveUp, 1)
	q := started(t, openAt(t, server.Database(t)), Options{
		Slots: 5, Lease: time.Hour, Log: slog.New(slog.NewTextHandler(lost, nil)),
		Do: func(context.Context, *Run) error { began.Add(1); <-crash; return nil },
	})
	for i := range 8 {
		accept(t, q, fmt.Sprint(i), review(app, i+1, "a"))
	}
	needs.WaitUntil(t, "four run", func() bool { return began.Load() == 4 })
	server.Stop(t, true)
	close(crash)
	<-lost
	server.Start(t)
	accept(t, q, "after", review(app, 9, "a"))
	needs.WaitUntil(t, "all are done", func() bool { return done(t, q, 9) })
}

// TestFault59Stop: a stop during four runs ends within its time; all four finish after a restart,
// once each, and the stop is not an attempt.
func TestFault59Stop(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		var mu sync.Mutex
		finished := map[int]int{}
		var began atomic.Int64
		var block atomic.Bool
		block.Store(true)
		do := func(ctx context.Context, r *Run) error {
			began.Add(1)
			if r.Attempt != 1 {
				t.Errorf("attempt %d", r.Attempt)
			}
			if block.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			finished[r.Pull]++
			return nil
		}
		q := started(t, db, Options{Slots: 5, Do: do})
		for i := range 4 {
			accept(t, q, fmt.Sprint(i), review(app, i+1, "a"))
		}
		needs.WaitUntil(t, "four run", func() bool { return began.Load() == 4 })
		stop(t, q)
		block.Store(false)
		q = started(t, db, Options{Slots: 5, Do: do})
		needs.WaitUntil(t, "all finished", func() bool { mu.Lock(); defer mu.Unlock(); return len(finished) == 4 })
		needs.WaitUntil(t, "all done", func() bool { return done(t, q, 4) })
		for pull, n := range finished {
			if n != 1 {
				t.Errorf("%d finished %d times", pull, n)
			}
		}
	})
}
