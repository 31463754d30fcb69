package store

import (
	"path/filepath"
	"testing"
)

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

func BenchmarkSaveReview(b *testing.B) {
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
}
