//go:build unix

package queue

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// hanging is a replica that runs the only job, and does not end it.
func hanging(t testing.TB, q *Queue, db *store.DB, place string) *replica {
	t.Helper()
	r := child(t, "hang", place, "other")
	needs.WaitUntil(t, "the other replica lives", func() bool { return count(t, db, "replicas") == 1 })
	accept(t, q, "1", review(app, 1, "a"))
	if got := r.says(t); got != "running" {
		t.Fatal(got)
	}
	return r
}

// TestFault12WorkerKilled: another worker takes over the job of one that was killed, as the next
// attempt.
func TestFault12WorkerKilled(t *testing.T) {
	onPlaces(t, func(t *testing.T, place string) {
		db := openAt(t, place)
		attempts := make(chan int, 10)
		q := opened(t, db, Options{
			Lease: 600 * time.Millisecond,
			Do:    func(_ context.Context, r *Run) error { attempts <- r.Attempt; return nil },
		})
		victim := hanging(t, q, db, place)
		victim.kill()
		needs.NoError(t, q.Start(t.Context()))
		if got := <-attempts; got != 2 {
			t.Errorf("attempt %d", got)
		}
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		if len(attempts) > 0 {
			t.Errorf("it ran again")
		}
	})
}

// TestFault13WorkerStalls: a worker that stalls past its lease and wakes is refused by Check, does
// not write, and cannot record that it ended.
func TestFault13WorkerStalls(t *testing.T) {
	onPlaces(t, func(t *testing.T, place string) {
		db := openAt(t, place)
		change(t, db, "CREATE TABLE effects (fence BIGINT NOT NULL)")
		q := opened(t, db, Options{Lease: 600 * time.Millisecond, Do: func(ctx context.Context, r *Run) error {
			if err := r.Check(ctx); err != nil {
				return err
			}
			return record(ctx, db, r)
		}})
		stalled := hanging(t, q, db, place)
		// Within a transaction, so that it is not stopped in one, which would lock SQLite's file for as long.
		needs.NoError(t, db.Transact(t.Context(), "stop", func(*sql.Tx) error {
			if err := stalled.Process.Signal(syscall.SIGSTOP); err != nil {
				return err
			}
			_, err := syscall.Wait4(stalled.Process.Pid, nil, syscall.WUNTRACED, nil)
			return err
		}))
		needs.NoError(t, q.Start(t.Context()))
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		before := only(t, q)
		needs.NoError(t, stalled.Process.Signal(syscall.SIGCONT))
		needs.Value(fmt.Fprintln(stalled.in, "go on"))(t)
		if got := stalled.says(t); got != "lease lost" {
			t.Errorf("the worker that stalled %s", got)
		}
		if err := stalled.Wait(); err != nil {
			t.Error(err)
		}
		if after := only(t, q); after != before {
			t.Errorf("the end of the worker that stalled changed %+v to %+v", before, after)
		}
		if n := count(t, db, "effects"); n != 1 {
			t.Errorf("%d effects", n)
		}
	})
}

// count counts the rows of a table, or of what is written so.
func count(t testing.TB, db *store.DB, from string, args ...any) (n int) {
	t.Helper()
	needs.NoError(t, db.Transact(t.Context(), "count", func(tx *sql.Tx) error {
		return tx.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+from, args...).Scan(&n)
	}))
	return n
}

// TestKilledWhileAccepting: "60 kill −9 under load: every delivery that got its 2xx has its job,
// none twice" (fault rows 1 and 2).
func TestKilledWhileAccepting(t *testing.T) {
	onPlaces(t, func(t *testing.T, place string) {
		db := openAt(t, place)
		rnd := needs.Random(t)
		accepted := map[int]bool{}
		kills := needs.Rounds(60, 3)
		for round := range kills {
			c := child(t, "accept", place, fmt.Sprint("acceptor", round), round*1_000_000+1)
			first, _ := strconv.Atoi(c.says(t))
			accepted[first] = true
			end := time.AfterFunc(time.Duration(rnd.IntN(150))*time.Millisecond, func() { _ = c.Process.Kill() })
			for {
				line, err := c.out.ReadString('\n')
				if err != nil {
					break // a line that was cut is not an answer
				}
				n := needs.Value(strconv.Atoi(strings.TrimSpace(line)))(t)
				accepted[n] = true
			}
			end.Stop()
			_ = c.Wait()
		}
		twice, total, without := count(t, db, "work WHERE generation <> 1"), count(t, db, "deliveries"), 0
		for n := range accepted {
			if count(t, db, "work w JOIN deliveries d ON d.id = $1 WHERE w.pull = $2", strconv.Itoa(n), n) != 1 {
				without++
			}
		}
		t.Logf("%d kills: %d deliveries got their answer, %d are stored, %d have no work, %d work twice", kills,
			len(accepted), total, without, twice)
		if without > 0 || twice > 0 || len(accepted) > total {
			t.Error("see above")
		}
	})
}
