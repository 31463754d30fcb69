package queue

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Rename gives the entries of a repository that do not run its present name. Where there is an entry
// for the same already, that one remains, and runs if one of the two would have. An entry that runs
// keeps the former name until it ends.
func (q *Queue) Rename(ctx context.Context, from, to precedent.Repo) error {
	if from.IsZero() || to.IsZero() || from == to {
		return nil
	}
	if len(to.String()) > maxName {
		return fmt.Errorf("rename jobs: not a name: %q", to.String()[:maxName])
	}
	err := q.db.Transact(ctx, "rename jobs", func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		all, err := q.db.WorkOfRepo(ctx, tx, from.String())
		if err != nil {
			return err
		}
		for _, w := range all {
			if w.State == store.WorkRunning {
				continue
			}
			id := entryID(Task{Kind: Kind(w.Kind), Repo: to, Pull: w.Pull})
			if err := q.moveEntry(ctx, tx, w, store.Work{ID: id, Kind: w.Kind, Repo: to.String(), Pull: w.Pull, Reason: w.Reason, Generation: 1, WantedAt: now}); err != nil {
				return err
			}
		}
		return q.issueTickets(ctx, tx)
	})
	if err == nil {
		q.lookNow()
	}
	return err
}

// moveEntry moves an entry, or merges it into the one that is there.
func (q *Queue) moveEntry(ctx context.Context, tx *sql.Tx, old, now store.Work) error {
	moved, err := q.db.MoveWork(ctx, tx, old.ID, now.ID, now.Repo)
	if err != nil || moved || old.State != store.WorkReady && old.State != store.WorkWaiting {
		return err
	}
	return q.db.WantWork(ctx, tx, []store.Work{now}, false)
}
