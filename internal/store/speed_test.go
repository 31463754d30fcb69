package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// Opening is what every command waits for before it can begin: 40 ms for a new
// file and 10 ms for an existing one are the budget. An idle machine takes 5 ms
// and 0.7 ms.

func BenchmarkOpenNew(b *testing.B) {
	for b.Loop() {
		db, err := Open(b.Context(), filepath.Join(b.TempDir(), "memory.db"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkOpenExisting(b *testing.B) {
	path := filepath.Join(b.TempDir(), "memory.db")
	keep, err := Open(b.Context(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	keep.Close()
	for b.Loop() {
		db, err := Open(b.Context(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

// BenchmarkSaveReview saves reviews with 40 findings, on disk when it returns.
func BenchmarkSaveReview(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) *DB{
		"sqlite":     func(b *testing.B) *DB { return open(b) },
		"postgresql": func(b *testing.B) *DB { return openURL(b, needs.PostgreSQLServer(b, true).Database(b)) },
	} {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			r := repoFor(b, db, remote)
			v := review(remote, "", 1)
			for i := range 40 {
				v.Findings = append(v.Findings, finding(remote, "a.go", string(rune('a'+i)), "bugs", "high"))
			}
			for b.Loop() {
				v.ID = db.newID()
				save(b, r, v)
			}
		})
	}
}

// BenchmarkWriters books from eight goroutines, for one repository and for eight, with the locks
// of postgresLock and with what was rejected for them (decision 55). Each booking is on disk when
// it returns.
func BenchmarkWriters(b *testing.B) {
	locks := []struct {
		name string
		lock func(context.Context, *sql.Tx, lock) error
	}{
		{"a lock of each repository", postgresLock},
		{"one lock", func(ctx context.Context, tx *sql.Tx, _ lock) error { return postgresLock(ctx, tx, everything) }},
		{"serializable", func(ctx context.Context, tx *sql.Tx, _ lock) error {
			_, err := tx.ExecContext(ctx, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
			return err
		}},
	}
	const writers = 8
	at := needs.PostgreSQLServer(b, true).Database(b)
	for _, l := range locks {
		for _, repos := range []int{1, writers} {
			b.Run(fmt.Sprintf("%s/%d repositories", l.name, repos), func(b *testing.B) {
				db := openURL(b, at)
				d := *db.dialect
				d.lock = l.lock
				db.dialect = &d
				attempts := atomic.Int64{}
				var group sync.WaitGroup
				for w := range writers {
					r := repoFor(b, db, precedent.Repo{Host: "h", Owner: "o", Name: fmt.Sprint(w % repos)})
					group.Go(func() {
						for i := w; i < b.N; i += writers {
							err := r.change(b.Context(), "book", func(tx *sql.Tx) error {
								attempts.Add(1)
								var before int64
								if err := rows(b.Context(), tx, "SELECT microdollars FROM spending WHERE repo_id = $1 AND day = 'd'", []any{r.id}, into(&before)); err != nil {
									return err
								}
								_, err := tx.Exec(`INSERT INTO spending (repo_id, day, microdollars) VALUES ($1, 'd', 1)
									ON CONFLICT (repo_id, day) DO UPDATE SET microdollars = $2`, r.id, before+1)
								return err
							})
							if err != nil {
								b.Error(err)
							}
						}
					})
				}
				group.Wait()
				b.ReportMetric(float64(attempts.Load())/float64(b.N), "attempts/op")
			})
		}
	}
}
