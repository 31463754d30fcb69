package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// writer calls do before each write.
type writer struct{ do func() }

func (w writer) Write(p []byte) (int, error) {
	w.do()
	return len(p), nil
}

// TestDumpHoldsNobodyUp: while an installation is exported, its server goes on: deliveries are
// stored, and leases renewed. The export has what was there when it began.
func TestDumpHoldsNobodyUp(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *DB{
		"sqlite":     func(t *testing.T) *DB { return openFile(t, filepath.Join(t.TempDir(), "server.db")) },
		"postgresql": func(t *testing.T) *DB { return openURL(t, needs.PostgreSQL(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			add := func(ctx context.Context, name string, n int) error {
				return db.Transact(ctx, "save", func(tx *sql.Tx) error {
					for i := range n {
						_, err := db.AddDelivery(ctx, tx, Delivery{
							Forge: "git.example", ID: fmt.Sprint(name, i), Event: "pull_request",
							Received: time.Unix(1, 0),
						})
						if err != nil {
							return err
						}
					}
					return nil
				})
			}
			const before = 2000 // more than is buffered
			if err := add(t.Context(), "before", before); err != nil {
				t.Fatal(err)
			}
			writes := 0
			rows, err := db.Dump(t.Context(), writer{func() {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				writes++
				if err := add(ctx, fmt.Sprint("during", writes, "-"), 1); err != nil {
					t.Error(err)
				}
			}})
			if err != nil || rows != before || writes < 2 {
				t.Errorf("%v, %d rows, %d writes", err, rows, writes)
			}
		})
	}
}
