//go:build unix

package queue

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent/internal/store"
)

// childVar, set, turns the test binary into a replica. Its value is its work and its words.
const childVar = "PRECEDENT_QUEUE_TEST_CHILD"

func TestMain(m *testing.M) {
	time.Local = time.FixedZone("east", 9*60*60) // River binds local times, and SQLite compares them as texts
	words := strings.Split(os.Getenv(childVar), " ")
	if words[0] == "" {
		os.Exit(m.Run())
	}
	if err := childWork[words[0]](context.Background(), words[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childWork is what a child can do; its first words are the place of the database and its name.
var childWork = map[string]func(ctx context.Context, words []string) error{
	"accept": childAccept, "hang": childHang,
}

// replica is a child process.
type replica struct {
	*exec.Cmd
	out *bufio.Reader
	in  io.Writer
}

func child(t testing.TB, words ...any) *replica {
	t.Helper()
	r := &replica{Cmd: exec.Command(needs.Value(os.Executable())(t))}
	r.Env = append(os.Environ(), childVar+"="+strings.TrimSuffix(fmt.Sprintln(words...), "\n"))
	r.Stderr = t.Output()
	r.out = bufio.NewReader(needs.Value(r.StdoutPipe())(t))
	r.in = needs.Value(r.StdinPipe())(t)
	needs.NoError(t, r.Start())
	t.Cleanup(r.kill)
	return r
}

// kill ends a replica as kill -9 does, and waits until it is gone.
func (r *replica) kill() {
	_ = r.Process.Kill()
	_, _ = io.Copy(io.Discard, r.out)
	_ = r.Wait()
}

// says reads a line.
func (r *replica) says(t testing.TB) string {
	t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the replica ended: %v", err)
	}
	return strings.TrimSpace(line)
}

// childQueue starts the queue of a child, whose clock jumps all the time.
func childQueue(
	ctx context.Context, words []string, do func(context.Context, *store.DB, *Run) error,
) (*Queue, error) {
	db, err := openPlace(ctx, words[0])
	if err != nil {
		return nil, err
	}
	o := Options{Do: func(ctx context.Context, r *Run) error { return do(ctx, db, r) }}
	o.Replica = words[1]
	o.Poll, o.Lease = 50*time.Millisecond, 1500*time.Millisecond
	o.Random = func() float64 { return 0.01 }
	o.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	began := time.Now()
	o.Now = func() time.Time {
		now := time.Now()
		jump := now.Sub(began) / (400 * time.Millisecond) % 3
		return now.Add([]time.Duration{-2 * time.Hour, 0, 2 * time.Hour}[jump])
	}
	q, err := Open(ctx, db, o)
	if err != nil {
		return nil, err
	}
	return q, q.Start(ctx)
}

// childAccept accepts deliveries from many callers, and says the number of each one once it is
// accepted. Its third word is the first number.
func childAccept(ctx context.Context, words []string) error {
	first, err := strconv.Atoi(words[2])
	if err != nil {
		return err
	}
	q, err := childQueue(ctx, words, func(context.Context, *store.DB, *Run) error { return nil })
	if err != nil {
		return err
	}
	const callers = 16
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			for n := first + c; ; n += callers {
				fresh, err := q.Accept(ctx, Delivery{Forge: "github", ID: strconv.Itoa(n), Event: "push"},
					[]Task{review(app, n, "a")})
				if err == nil && fresh {
					fmt.Printf("%d\n", n)
				}
			}
		})
	}
	group.Wait()
	return nil
}

// record records an effect, as a comment on a forge is posted: nothing prevents a second one.
func record(ctx context.Context, db *store.DB, r *Run) error {
	return db.Transact(ctx, "record effect", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO effects (fence) VALUES ($1)", r.work.Fence)
		return err
	})
}

// childHang is a replica whose job waits until it is told to go on, and then says what Check says.
func childHang(ctx context.Context, words []string) error {
	ended := make(chan error, 1)
	q, err := childQueue(ctx, words, func(ctx context.Context, db *store.DB, r *Run) error {
		fmt.Println("running")
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		if err == nil {
			err = r.Check(context.WithoutCancel(ctx))
		}
		if err == nil {
			err = record(ctx, db, r)
		}
		ended <- err
		return nil
	})
	if err != nil {
		return err
	}
	if err := <-ended; errors.Is(err, ErrLeaseLost) {
		fmt.Println("lease lost")
	} else {
		fmt.Println("wrote", err)
	}
	stopping, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return q.Stop(stopping)
}
