package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestNoGrowth: "after 24 simulated hours of 2,000 events no growth of goroutines"; rows do not
// outlive their retention either.
func TestNoGrowth(t *testing.T) {
	minutes := needs.FullRounds(24*60, 20)
	synctest.Test(t, func(t *testing.T) {
		db := openSQLite(t)
		q := opened(t, db, Options{Poll: time.Second, Lease: 2 * time.Minute, Keep: 10 * time.Minute, Random: func() float64 { return 0.5 }, Do: func(ctx context.Context, r *Run) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(20 * time.Second):
			}
			switch r.Fence % 10 {
			case 0:
				return Later(time.Minute, "it waits")
			case 1:
				return errors.New("no network")
			}
			return nil
		}})
		q.Every(Sweep, 5*time.Minute)
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := 2000 * minutes / (24 * 60)
		pause := time.Duration(minutes) * time.Minute / time.Duration(events)
		var early int
		for n := range events {
			accept(t, q, fmt.Sprint(n), review(app, 1+n/5, fmt.Sprint(n)), Task{Kind: Reply, Repo: app, Pull: 1 + n/5})
			time.Sleep(pause)
			if n == events/4 {
				early = runtime.NumGoroutine()
			}
		}
		if late := runtime.NumGoroutine(); late > early+5 {
			t.Errorf("%d goroutines, %d after a quarter of the time", late, early)
		}
		time.Sleep(25 * time.Minute)
		counts := rowsOf(t, db)
		t.Logf("after %d minutes and %d events: %v", minutes, events, counts)
		if counts["work"] > 1 || counts["river_job"] > 10 || counts["work_turns"] > 2 || counts["replicas"] != 1 || counts["deliveries"] != events {
			t.Error("rows are left")
		}
		stop(t, q)
	})
}

// rowsOf counts the rows of all tables of the queue.
func rowsOf(t testing.TB, db *store.DB) map[string]int {
	t.Helper()
	counts := map[string]int{}
	err := db.Transact(t.Context(), "count", func(tx *sql.Tx) error {
		for _, table := range []string{"work", "work_turns", "work_periods", "deliveries", "replicas", "river_job", "river_leader", "river_queue"} {
			var n int
			if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n); err != nil {
				return err
			}
			counts[table] = n
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
