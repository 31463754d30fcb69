package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestFault56Busy: a transaction that another one keeps waiting, or that the server asks to
// repeat, is tried again as a whole, and nothing of the first attempt is left. Who gives up gets
// the error of its context.
func TestFault56Busy(t *testing.T) {
	onBothEngines(t, func(t *testing.T, place func() string) {
		db := openPlace(t, place())
		r := repoFor(t, db, remote)
		lock, err := again(t, db).begin(t.Context(), lock(r.id))
		needs.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := r.SaveReview(ctx, review(remote, "r1", 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
		time.AfterFunc(2*sqliteBusyTimeout, func() { _ = lock.Rollback() })
		attempts := 0
		err = r.change(t.Context(), "book", func(tx *sql.Tx) error {
			attempts++
			if _, err := tx.Exec("INSERT INTO spending (repo_id, day, microdollars) VALUES ($1, 'd', 1)", r.id); err != nil {
				return err
			}
			if attempts > 1 || db.Engine() == SQLite {
				return nil
			}
			_, err := tx.Exec("DO 'BEGIN RAISE EXCEPTION USING ERRCODE = ''40001''; END'")
			return err
		})
		sum := ask[int](t, db, "SELECT SUM(microdollars) FROM spending WHERE repo_id = $1", r.id)
		if err != nil || sum != 1 {
			t.Errorf("%d, %v after %d attempts", sum, err, attempts)
		}
	})
}

// cutter stands between a client and PostgreSQL, and cuts connections at their commits.
type cutter struct {
	to atomic.Value // path of the server's socket, a string
	// cut says what happens to the next commit.
	cut atomic.Int32
}

const (
	passOn     = iota
	cutBefore  // the server does not get the commit
	cutAfter   // the client does not get the answer
	cutUnsaved // the server gets the commit while it cannot answer: its session is over
)

// newCutter returns a URL that leads to the database of another one through a cutter.
func newCutter(t *testing.T, at string) (string, *cutter) {
	t.Helper()
	u := needs.Value(url.Parse(at))(t)
	c := &cutter{}
	c.to.Store(filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port")))
	l := needs.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	u.Host, u.RawQuery = l.Addr().String(), "sslmode=disable"
	return u.String(), c
}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("unix", c.to.Load().(string))
	if err != nil {
		return
	}
	defer server.Close()
	var mute atomic.Bool
	go func() {
		defer client.Close()
		buffer := make([]byte, 1<<16)
		for {
			n, err := server.Read(buffer)
			if err != nil || mute.Load() { // the server has committed before it answers
				return
			}
			if _, err := client.Write(buffer[:n]); err != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		if bytes.Contains(buffer[:n], []byte("commit\x00")) {
			switch c.cut.Swap(passOn) {
			case cutBefore:
				return
			case cutAfter:
				mute.Store(true)
			case cutUnsaved:
				_, _ = server.Write(buffer[:n])
				return
			}
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// TestFault56CommitWithoutAnswer: whether a commit reached the server or not, a transaction is
// made exactly once, also one that is not idempotent, and says so.
func TestFault56CommitWithoutAnswer(t *testing.T) {
	at, c := newCutter(t, needs.PostgreSQL(t))
	db := openPlace(t, at)
	r := repoFor(t, db, remote)
	rnd := needs.Random(t)
	n := needs.Rounds(60, 8)
	for i := range n {
		c.cut.Store(int32(i % 4))
		booked, err := r.Book(t.Context(), 1, Bounds{Day: 1e6})
		if err != nil || booked.Day != float64(i+1) {
			t.Fatalf("cut %d: %+v, %v, want %d", i%4, booked, err, i+1)
		}
		c.cut.Store(rnd.Int32N(4))
		if _, added, err := r.AddLearning(t.Context(), learningOf(fmt.Sprint("Check ", i)), "ada"); err != nil || !added {
			t.Fatalf("learning %d: %v, %v", i, added, err)
		}
	}
	c.cut.Store(passOn)
	if c, err := r.Count(t.Context()); err != nil || c.Learnings != n {
		t.Errorf("%d learnings, %v, want %d", c.Learnings, err, n)
	}
}

// TestFault56Unresolved: if the server cannot be asked, the error says that it is not known
// whether the transaction was made, and it is not made again.
func TestFault56Unresolved(t *testing.T) {
	at, c := newCutter(t, needs.PostgreSQL(t))
	over := make(chan time.Time)
	db := openPlace(t, at, Options{After: func(d time.Duration) <-chan time.Time {
		if d == busyTimeout {
			return over
		}
		return time.After(d)
	}})
	r := repoFor(t, db, remote)
	c.cut.Store(cutAfter)
	attempts := 0
	err := r.change(t.Context(), "save", func(*sql.Tx) error {
		if attempts++; attempts == 1 {
			c.to.Store(filepath.Join(t.TempDir(), "nowhere"))
			close(over)
		}
		return nil
	})
	if !errors.Is(err, errUncertain) || !errors.Is(err, ErrUnreachable) || attempts != 1 {
		t.Errorf("error %v after %d attempts", err, attempts)
	}
}

// TestFault57DatabaseRestarted restarts PostgreSQL as after a crash, and ends connections, while
// several handles write and read: each goes on, and each booking is made exactly once.
func TestFault57DatabaseRestarted(t *testing.T) {
	server := needs.SharedPostgreSQL(t)
	at := server.Database(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var booked atomic.Int64
	var group sync.WaitGroup
	for i := range 3 {
		r := repoFor(t, openPlace(t, at, Options{}), remote)
		group.Go(func() {
			for ctx.Err() == nil {
				// Without the context: a cancelled one leaves it open whether it was made.
				if _, err := r.Book(context.WithoutCancel(ctx), 1, Bounds{Day: 1e9, Pull: 1e9, Number: i + 1}); err != nil {
					t.Error(err)
					return
				}
				booked.Add(1)
			}
		})
	}
	for round := range needs.Rounds(5, 2) {
		before := booked.Load()
		needs.WaitUntil(t, "more is booked", func() bool { return booked.Load() > before+20 })
		if round%3 == 1 {
			server.Disconnect(t, at)
		} else {
			server.Restart(t, true)
		}
	}
	stop()
	group.Wait()
	db := openPlace(t, at)
	id := repoFor(t, db, remote).id
	sum := ask[int64](t, db, "SELECT SUM(microdollars) FROM pull_spending WHERE repo_id = $1", id)
	if sum != 1e6*booked.Load() {
		t.Errorf("%d microdollars are booked, and %d dollars were", sum, booked.Load())
	}
	t.Logf("%d bookings", booked.Load())
}

// TestFault58Damaged: a page of PostgreSQL that is damaged is found, and the hint says what to
// do. TestOpenRefuses, TestDamageFoundLater and TestWALCut do the same for SQLite.
func TestFault58Damaged(t *testing.T) {
	server := needs.SharedPostgreSQL(t)
	at := server.Database(t)
	db := needs.Value(OpenURL(t.Context(), at, Options{}))(t)
	save(t, repoFor(t, db, remote), seededReview("7", "0", 1))
	var folder, file string
	needs.NoError(t, db.sql.QueryRow("SELECT current_setting('data_directory'), pg_relation_filepath('reviews')").Scan(&folder,
		&file))
	needs.NoError(t, db.Close())
	server.Stop(t, false)
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_WRONLY, 0)
	needs.NoError(t, err)
	_, err = f.WriteAt(bytes.Repeat([]byte{0xff}, 24), 0)
	needs.NoError(t, errors.Join(err, f.Close()))
	server.Start(t)
	_, err = openPlace(t, at).Check(t.Context())
	failure, _ := errors.AsType[*Error](err)
	if !errors.Is(err, ErrCorrupt) || failure == nil || !strings.Contains(failure.Hint, "backup") {
		t.Errorf("%#v", err)
	}
}
