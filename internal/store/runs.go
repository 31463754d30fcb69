package store

import (
	"context"
	"database/sql"
	"time"
)

// TakeTurn makes run the only one of this memory that posts on the pull request, until it
// calls EndTurn, or for the given time, which another call extends. It is false while another
// run has the turn. A run that is killed holds its turn until the time is over.
func (r *Repo) TakeTurn(ctx context.Context, pull int, run string, limit time.Duration) (bool, error) {
	taken := false
	err := r.change(ctx, "take turn to post", func(tx *sql.Tx) error {
		now := r.db.now()
		result, err := tx.ExecContext(ctx, `
			INSERT INTO runs (repo_id, pull, run, until) VALUES ($1, $2, $3, $4)
			ON CONFLICT (repo_id, pull) DO UPDATE SET run = excluded.run, until = excluded.until
			WHERE runs.run = excluded.run OR runs.until <= $5`,
			r.id, pull, run, millis(now.Add(limit)), millis(now))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		taken = n > 0
		return err
	})
	return taken, err
}

// EndTurn ends the turn of run; nothing happens if it has none.
func (r *Repo) EndTurn(ctx context.Context, pull int, run string) error {
	return r.change(ctx, "end turn to post", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE repo_id = $1 AND pull = $2 AND run = $3", r.id, pull, run)
		return err
	})
}
