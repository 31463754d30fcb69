//go:build unix

package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// placed opens a database with a table for effects.
func placed(t testing.TB, place string) *store.DB {
	t.Helper()
	db := openAt(t, place)
	change(t, db, "CREATE TABLE IF NOT EXISTS effects (pull BIGINT NOT NULL, head TEXT NOT NULL, fence BIGINT NOT NULL)")
	return db
}

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
		db := placed(t, place)
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
		db := placed(t, place)
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
		if n := len(effects(t, db)); n != 1 {
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

// effect is what a run left.
type effect struct {
	pull int
	head string
}

// effects returns how often each was recorded.
func effects(t testing.TB, db *store.DB) map[effect]int {
	t.Helper()
	all := map[effect]int{}
	needs.NoError(t, db.Transact(t.Context(), "read effects", func(tx *sql.Tx) error {
		clear(all)
		found, err := tx.QueryContext(t.Context(), "SELECT pull, head FROM effects")
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var e effect
			if err := found.Scan(&e.pull, &e.head); err != nil {
				return err
			}
			all[e]++
		}
		return found.Err()
	}))
	return all
}

// TestKilledWhileAccepting: "60 kill −9 under load: every delivery that got its 2xx has its job,
// none twice" (fault rows 1 and 2).
func TestKilledWhileAccepting(t *testing.T) {
	onPlaces(t, func(t *testing.T, place string) {
		db := placed(t, place)
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

// TestKilledWhileRunning: "500 pull-request events in a burst; replicas killed 60 times, database
// restarted, clock jumped: each newest head reviewed and posted exactly once, nothing lost": two
// replicas on PostgreSQL, one on SQLite.
func TestKilledWhileRunning(t *testing.T) {
	test := func(t *testing.T, place string, n int, server *needs.Server) {
		pulls, events, kills := needs.Rounds(50, 20), needs.Rounds(500, 60), needs.Rounds(60, 3)
		db := placed(t, place)
		q := opened(t, db, Options{Lease: 1500 * time.Millisecond})
		rnd := needs.Random(t)
		names := 0
		start := func() *replica {
			names++
			return child(t, "run", place, fmt.Sprint("replica", names))
		}
		var replicas []*replica
		for range n {
			replicas = append(replicas, start())
		}
		newest := map[int]string{}
		for kill := range kills {
			from, to := kill*events/kills, (kill+1)*events/kills
			for n := from; n < to; n++ {
				pull := 1 + rnd.IntN(pulls)
				newest[pull] = fmt.Sprint("head", n)
				send(t, q, fmt.Sprint(n), review(app, pull, newest[pull]))
			}
			pause := time.Duration(50+rnd.IntN(400)) * time.Millisecond
			if server != nil && kill%(kills/3) == 1 {
				server.Restart(t, kill%2 == 0)
			}
			<-time.After(pause)
			i := rnd.IntN(len(replicas))
			replicas[i].kill()
			replicas[i] = start()
		}
		needs.WaitUntil(t, "all done", func() bool { return done(t, q, len(newest)) })
		all := effects(t, db)
		for pull, head := range newest {
			if n := all[effect{pull, head}]; n != 1 {
				t.Errorf("the newest head %s of %d was posted %d times", head, pull, n)
			}
		}
		double := 0
		for _, n := range all {
			if n > 1 {
				double++
			}
		}
		t.Logf("%d kills, %d events of %d pull requests: %d effects, %d of them twice", kills, events, len(newest), len(all),
			double)
		if double > 0 {
			t.Error("see above")
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newFile(t), 1, nil)
	})
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		if !needs.Soaking() {
			test(t, needs.PostgreSQL(t), 2, nil)
			return
		}
		server := needs.PostgreSQLServer(t, true)
		test(t, server.Database(t), 2, server)
	})
}

// send accepts a delivery, and sends it again as a forge or the sweep does while the database is away.
func send(t testing.TB, q *Queue, id string, task Task) {
	t.Helper()
	for range 20 {
		_, err := q.Accept(t.Context(), Delivery{Forge: "github", ID: id, Event: "push"}, []Task{task})
		if err == nil {
			return
		}
		if errors.Is(err, context.Canceled) {
			break
		}
	}
	t.Fatalf("%s was never accepted", id)
}
