package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

const ownerDied = "(runs.replica <> '' AND NOT EXISTS (SELECT 1 FROM replicas p WHERE p.id = runs.replica))"

// TakeTurn makes run the only one of this memory that posts on the pull request, until it
// calls EndTurn, or for the given time, which another call extends. It is false while another
// run has the turn. The turn of a run that is killed ends when its replica is known to be dead; that
// of a command, which has no replica, when the time is over, or when the clock was set back by more
// than that. All callers give the same time. It returns the runs that had the turn before and died
// with their replicas: they post nothing any more.
func (r *Repo) TakeTurn(ctx context.Context, pull int, run, replica string, limit time.Duration) (taken bool,
	died []string, err error,
) {
	err = r.change(ctx, "take turn to post", func(tx *sql.Tx) error {
		now, err := r.db.Clock(ctx, tx, r.db.now) // those of replicas may differ
		if err != nil {
			return err
		}
		var all string
		err = row(ctx, tx, `
			INSERT INTO runs (repo_id, pull, run, until, replica) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (repo_id, pull) DO UPDATE SET run = excluded.run, until = excluded.until, replica = excluded.replica,
				died = CASE WHEN runs.run <> excluded.run AND `+ownerDied+` THEN runs.died || ' ' || runs.run ELSE runs.died END
			WHERE runs.run = excluded.run OR runs.until <= $6 OR runs.until > $4 OR `+ownerDied+` RETURNING died`,
			[]any{r.id, pull, run, millis(now.Add(limit)), replica, millis(now)}, into(&all))
		taken, died = err == nil, strings.Fields(all)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return taken, died, err
}

// EndTurn ends the turn of run; nothing happens if it has none.
func (r *Repo) EndTurn(ctx context.Context, pull int, run string) error {
	return r.exec(ctx, "end turn to post", "DELETE FROM runs WHERE repo_id = $1 AND pull = $2 AND run = $3", pull, run)
}
