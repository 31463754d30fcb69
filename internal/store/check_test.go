package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/precedent-dev/precedent"
)

// TestCheck: a good database has its schema's version; one with a garbled page
// is damaged.
func TestCheck(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.db")
	db, err := Open(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 { // fill some pages
		id := precedent.Repo{Host: "example.org", Owner: "team", Name: db.newID()}
		if _, err := db.RepoFor(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	newest, err := newestStep(migrations)
	if err != nil {
		t.Fatal(err)
	}
	if schema, err := db.Check(t.Context()); err != nil || schema != newest {
		t.Errorf("schema %d, %v; want %d", schema, err, newest)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 2; i < len(data)-100; i += 97 {
		data[i] ^= 0x5a
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(t.Context(), file, Options{}); err == nil {
		defer db.Close()
		_, err = db.Check(t.Context())
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("a garbled database: %v", err)
	}
}
