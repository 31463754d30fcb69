package queue

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
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

// onBoth runs a test with a place for a database of each engine, at once.
func onBoth(t *testing.T, postgres func(testing.TB) string, test func(t *testing.T, place string)) {
	t.Helper()
	for name, place := range map[string]func(testing.TB) string{"sqlite": newFile, "postgresql": postgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, place(t))
		})
	}
}

func newFile(t testing.TB) string { return filepath.Join(t.TempDir(), "queue.db") }

// onPlaces runs a test with places for new databases, which processes may be using when it ends.
func onPlaces(t *testing.T, test func(t *testing.T, place string)) {
	t.Helper()
	onBoth(t, needs.PostgreSQL, test)
}

// onEngines runs a test with empty databases.
func onEngines(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	onBoth(t, emptied, func(t *testing.T, place string) { test(t, openAt(t, place)) })
}

// onSQLite is onEngines for what does not depend on the engine: PostgreSQL is for make soak.
func onSQLite(t *testing.T, test func(t *testing.T, db *store.DB)) {
	t.Helper()
	if needs.Soaking() {
		onEngines(t, test)
		return
	}
	test(t, openAt(t, newFile(t)))
}

// emptied is the URL of a database that has all tables and no rows, and that another test may have used.
func emptied(t testing.TB) string {
	t.Helper()
	with := func(use func(context.Context, *store.DB) error) func(url string) error {
		return func(url string) error {
			db, err := openPlace(context.Background(), url)
			if err != nil {
				return err
			}
			return errors.Join(use(context.Background(), db), db.Close())
		}
	}
	return needs.PostgreSQLAgain(t, "queue", with(func(ctx context.Context, db *store.DB) error {
		q, err := Open(ctx, db, Options{})
		if err != nil {
			return err
		}
		return q.Stop(ctx)
	}), with(func(ctx context.Context, db *store.DB) error {
		return db.Transact(ctx, "empty", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx,
				"TRUNCATE deliveries, work, work_turns, replicas, server_values, river_job, river_leader, river_queue")
			return err
		})
	}))
}

// openPlace opens the database of a file or URL.
func openPlace(ctx context.Context, place string) (*store.DB, error) {
	if strings.Contains(place, "://") {
		return store.OpenURL(ctx, place, store.Options{})
	}
	return store.Open(ctx, place, store.Options{})
}

func openAt(t testing.TB, place string) *store.DB {
	t.Helper()
	db := needs.Value(openPlace(t.Context(), place))(t)
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
	q := needs.Value(Open(t.Context(), db, o))(t)
	t.Cleanup(func() { stop(t, q) })
	return q
}

func started(t testing.TB, db *store.DB, o Options) *Queue {
	t.Helper()
	q := opened(t, db, o)
	needs.NoError(t, q.Start(t.Context()))
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
	return needs.Value(q.List(t.Context(), Filter{Limit: 100000}))(t)
}

// done tells whether there are so many entries, and all are done.
func done(t testing.TB, q *Queue, n int) bool {
	t.Helper()
	all := jobs(t, q)
	return len(all) == n && !slices.ContainsFunc(all, func(j Job) bool { return j.State != Done })
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
	needs.Value(q.Accept(t.Context(), Delivery{Forge: "github", ID: id, Event: "pull_request"}, tasks))(t)
}

func review(repo precedent.Repo, pull int, head string) Task {
	return Task{Kind: Review, Repo: repo, Pull: pull, Head: head, Reason: "push"}
}
