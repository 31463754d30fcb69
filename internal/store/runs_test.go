package store

import (
	"database/sql"
	"slices"
	"testing"
	"time"
)

// testTurns: one run at a time has the turn. That of a run ends with its time, with its replica, and
// when it lies further ahead than a turn can last, since another clock was wrong. Who takes over from
// a replica that died learns which runs died.
func testTurns(t *testing.T, open opener) {
	ctx := t.Context()
	now := start
	db := open(t, Options{Now: func() time.Time { return now }})
	r := repoFor(t, db, remote)
	take := func(run, replica string, limit time.Duration, want bool, died ...string) {
		t.Helper()
		taken, gone, err := r.TakeTurn(ctx, 7, run, replica, limit)
		if err != nil || taken != want || !slices.Equal(gone, died) {
			t.Errorf("%s: %v, died %q, %v; want %v, %q", run, taken, gone, err, want, died)
		}
	}
	replica := func(id string, lives bool) {
		t.Helper()
		err := db.Transact(ctx, "test", func(tx *sql.Tx) error {
			if !lives {
				return db.RemoveReplicas(ctx, tx, id, now)
			}
			_, err := db.KeepReplica(ctx, tx, id, now, true)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	take("a", "", time.Hour, true)
	take("a", "", time.Hour, true)
	take("b", "", time.Hour, false)
	take("b", "", time.Minute, true) // a's clock was an hour ahead
	if err := r.EndTurn(ctx, 7, "a"); err != nil {
		t.Fatal(err)
	}
	take("c", "", time.Minute, false)
	if err := r.EndTurn(ctx, 7, "b"); err != nil {
		t.Fatal(err)
	}
	replica("one", true)
	replica("two", true)
	take("c", "one", time.Hour, true)
	take("d", "two", time.Hour, false)
	replica("one", false)
	take("d", "two", time.Hour, true, "c")
	take("d", "two", time.Hour, true, "c")
	take("e", "", time.Hour, false)
	replica("two", false)
	take("e", "", time.Hour, true, "c", "d")
	if err := r.EndTurn(ctx, 7, "e"); err != nil {
		t.Fatal(err)
	}
	take("f", "", 0, true)
	now = now.Add(time.Millisecond)
	take("g", "", time.Hour, true)
}
