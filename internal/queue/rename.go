package queue

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
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
	err := q.change(ctx, "rename jobs", func(tx *sql.Tx, now time.Time) error {
		all, err := q.db.WorkOfRepo(ctx, tx, from.String())
		if err != nil {
			return err
		}
		for _, old := range all {
			t := Task{Kind: Kind(old.Kind), Repo: to, Pull: old.Pull, Reason: old.Reason}
			moved, err := q.db.MoveWork(ctx, tx, old.ID, entryID(t), to.String())
			if err == nil && !moved && old.Wanted() {
				err = q.want(ctx, tx, []Task{t}, false, now)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		q.lookNow()
	}
	return err
}
