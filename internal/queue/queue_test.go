package queue

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// app is a repository of the tests, big one that floods, and small one with little work.
var (
	app   = precedent.Repo{Host: "example.com", Owner: "team", Name: "app"}
	big   = precedent.Repo{Host: "example.com", Owner: "team", Name: "big"}
	small = precedent.Repo{Host: "example.com", Owner: "team", Name: "small"}
)

// engines are the databases that every test of this package runs on.
var engines = []struct {
	name string
	open func(t testing.TB) *store.DB
}{
	{"sqlite", openSQLite},
	{"postgresql", openPostgreSQL},
}

// onEngines runs a test on all of them at once, inTurn on one after the other.
func onEngines(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	inTurn(t, func(t *testing.T, open func(testing.TB) *store.DB) {
		t.Parallel()
		test(t, open(t))
	})
}

func inTurn(t *testing.T, test func(t *testing.T, open func(testing.TB) *store.DB)) {
	t.Helper()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { test(t, e.open) })
	}
}

func openSQLite(t testing.TB) *store.DB {
	t.Helper()
	return openFile(t, filepath.Join(t.TempDir(), "queue.db"))
}

func openFile(t testing.TB, path string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func openPostgreSQL(t testing.TB) *store.DB {
	t.Helper()
	return openURL(t, needs.PostgreSQL(t))
}

func openURL(t testing.TB, url string) *store.DB {
	t.Helper()
	db, err := store.OpenURL(t.Context(), url, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// opened opens a queue that is stopped at the end of the test.
func opened(t testing.TB, db *store.DB, o Options) *Queue {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	if o.Poll == 0 {
		o.Poll = 20 * time.Millisecond
	}
	q, err := Open(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	t.Cleanup(func() { once.Do(func() { stop(t, q) }) })
	return q
}

func started(t testing.TB, db *store.DB, o Options) *Queue {
	t.Helper()
	q := opened(t, db, o)
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// stop stops a queue; a second time it does nothing.
func stop(t testing.TB, q *Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second) // what a server has
	defer cancel()
	q.mu.Lock()
	stopped := q.stopping
	q.mu.Unlock()
	if stopped {
		return
	}
	if err := q.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// jobs returns all entries.
func jobs(t testing.TB, q *Queue) []Job {
	t.Helper()
	all, err := q.List(t.Context(), Filter{Limit: 100000})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// only returns the only entry.
func only(t testing.TB, q *Queue) Job {
	t.Helper()
	all := jobs(t, q)
	if len(all) != 1 {
		t.Fatalf("%d jobs: %+v", len(all), all)
	}
	return all[0]
}

func accept(t testing.TB, q *Queue, id string, tasks ...Task) {
	t.Helper()
	if _, err := q.Accept(t.Context(), Delivery{Forge: "github", ID: id, Event: "pull_request"}, tasks); err != nil {
		t.Fatal(err)
	}
}

func review(repo precedent.Repo, pull int, head string) Task {
	return Task{Kind: Review, Repo: repo, Pull: pull, Head: head, Reason: "push"}
}

func TestRun(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		got := make(chan Run, 1)
		q := started(t, db, Options{Do: func(ctx context.Context, r *Run) error { got <- *r; return r.Check(ctx) }})
		want := Task{Kind: Review, Repo: app, Pull: 7, Head: "abc", Reason: "label \x1b[31m"}
		accept(t, q, "1", want)
		r := <-got
		want.Reason = "label <U+001B>[31m"
		if r.Task != want || r.Attempt != 1 || r.MaxAttempts != 8 {
			t.Errorf("ran %+v", r)
		}
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
	})
}

func BenchmarkAccept(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			open := e.open
			if e.name == "postgresql" { // with a server that waits for the disk
				open = func(b testing.TB) *store.DB { return openURL(b, needs.PostgreSQLServer(b, true).Database(b)) }
			}
			q := started(b, open(b), Options{Slots: 2, Poll: time.Second, Do: func(ctx context.Context, r *Run) error {
				<-ctx.Done()
				return ctx.Err()
			}})
			var n sync.Mutex
			next := 0
			b.SetParallelism(64)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					n.Lock()
					next++
					i := next
					n.Unlock()
					fresh, err := q.Accept(b.Context(), Delivery{Forge: "github", ID: fmt.Sprint(i), Event: "pull_request"},
						[]Task{review(app, 1+i%500, fmt.Sprint(i)), {Kind: Reply, Repo: app, Pull: 1 + i%500, Reason: "comment"}})
					if err != nil || !fresh {
						b.Fatal(fresh, err)
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "accepted/s")
		})
	}
}
