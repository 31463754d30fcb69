package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/precedent-dev/precedent"
)

// openThread is the condition for a thread t that is not finished: it is not settled, and it
// has no known outcome or was updated since $2. Pruning keeps what belongs to it.
const openThread = `t.repo_id = $1 AND t.state NOT IN ('resolved', 'wont_fix') AND (t.updated_at >= $2 OR NOT EXISTS (
	SELECT 1 FROM outcomes o WHERE o.repo_id = $1 AND o.pull = t.pull AND o.fingerprint = t.fingerprint
		AND o.outcome <> 'unknown'))`

// Threads returns the threads of the pull request, oldest first. Current and Changed are not
// set, because they depend on a head.
func (r *Repo) Threads(ctx context.Context, pull int) ([]precedent.Thread, error) {
	threads, err := documents[precedent.Thread](ctx, r.db.read,
		"SELECT document FROM threads WHERE repo_id = $1 AND pull = $2 ORDER BY opened_at, id", []any{r.id, pull})
	return threads, r.db.fail("read threads", err)
}

// SaveThreads saves the threads, all or none. A pull request has one thread per fingerprint:
// the first one stays, and another one is not saved.
func (r *Repo) SaveThreads(ctx context.Context, threads []precedent.Thread) error {
	const op = "save threads"
	for _, t := range threads {
		if t.ID == "" || t.Fingerprint == "" || t.PullRequest <= 0 {
			return r.db.fail(op, errors.New("a thread without id, fingerprint or pull request"))
		}
	}
	if len(threads) == 0 {
		return nil
	}
	now := millis(r.db.now())
	return r.change(ctx, op, func(tx *sql.Tx) error {
		for _, t := range threads {
			t.Current, t.Changed = precedent.Span{}, false
			n, err := affected(tx.ExecContext(ctx, `
				UPDATE threads SET comment = $5, state = $6, document = $7, updated_at = $8
				WHERE repo_id = $1 AND id = $2 AND pull = $3 AND fingerprint = $4`,
				r.id, t.ID, t.PullRequest, t.Fingerprint, t.Comment, t.State, document{t}, now))
			if err != nil {
				return err
			}
			if n > 0 {
				continue
			}
			err = execute(ctx, tx, `
				INSERT INTO threads (repo_id, id, pull, fingerprint, comment, state, document, opened_at, updated_at)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
				r.id, t.ID, t.PullRequest, t.Fingerprint, t.Comment, t.State, document{t}, millis(t.OpenedAt), now)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
