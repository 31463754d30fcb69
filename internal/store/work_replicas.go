package store

import (
	"context"
	"database/sql"
	"time"
)

// AddReplica registers a replica.
func (db *DB) AddReplica(ctx context.Context, tx *sql.Tx, id string, now time.Time) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO replicas (id, beat, started) VALUES ($1, 1, $2) ON CONFLICT (id) DO UPDATE SET beat = replicas.beat + 1", id, millis(now))
	return err
}

// Beat shows that a replica lives. It returns false if others removed it.
func (db *DB) Beat(ctx context.Context, id string) (bool, error) {
	var n int64
	err := db.Transact(ctx, "renew lease", func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "UPDATE replicas SET beat = beat + 1 WHERE id = $1", id)
		if err == nil {
			n, err = result.RowsAffected()
		}
		return err
	})
	return n > 0, err
}

// Beats returns the beats of all replicas.
func (db *DB) Beats(ctx context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	err := rows(ctx, db.read, "SELECT id, beat FROM replicas", nil, func(s scanner) error {
		var id string
		var beat int64
		err := s.Scan(&id, &beat)
		all[id] = beat
		return err
	})
	return all, db.fail("read replicas", err)
}

// RemoveReplica removes a replica that still has the beat, or any beat if it is 0. It returns
// false if there is none.
func (db *DB) RemoveReplica(ctx context.Context, tx *sql.Tx, id string, beat int64) (bool, error) {
	result, err := tx.ExecContext(ctx, "DELETE FROM replicas WHERE id = $1 AND (CAST($2 AS BIGINT) = 0 OR beat = $2)", id, beat)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// OrphanedReplicas are those that run work and are not registered.
func (db *DB) OrphanedReplicas(ctx context.Context) ([]string, error) {
	var all []string
	err := rows(ctx, db.read, `SELECT DISTINCT w.replica FROM work w WHERE w.state = 'running'
		AND NOT EXISTS (SELECT 1 FROM replicas r WHERE r.id = w.replica)`, nil, func(s scanner) error {
		var id string
		err := s.Scan(&id)
		all = append(all, id)
		return err
	})
	return all, db.fail("read replicas", err)
}
