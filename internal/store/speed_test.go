package store

import (
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// Opening is what every command waits for before it can begin: 40 ms for a new
// file and 10 ms for an existing one are the budget. An idle machine takes 5 ms
// and 0.7 ms.

func BenchmarkOpenExisting(b *testing.B) {
	path := filepath.Join(b.TempDir(), "memory.db")
	keep := needs.Value(Open(b.Context(), path, Options{}))(b)
	keep.Close()
	for b.Loop() {
		db := needs.Value(Open(b.Context(), path, Options{}))(b)
		db.Close()
	}
}

// BenchmarkSaveReview saves reviews with 40 findings, on disk when it returns.
func BenchmarkSaveReview(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) *DB{
		"sqlite":     func(b *testing.B) *DB { return open(b) },
		"postgresql": func(b *testing.B) *DB { return openPlace(b, needs.PostgreSQLServer(b, true).Database(b)) },
	} {
		b.Run(name, func(b *testing.B) {
			db := open(b)
			r := repoFor(b, db, remote)
			v := review(remote, "", 1)
			for i := range 40 {
				v.Findings = append(v.Findings, finding(remote, "a.go", string(rune('a'+i)), "bugs", "high"))
			}
			for b.Loop() {
				v.ID = newID()
				save(b, r, v)
			}
		})
	}
}
