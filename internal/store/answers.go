package store

import (
	"context"
	"database/sql"
	"time"
)

// answerLife is how long answers are kept for a review that did not finish.
const answerLife = 7 * 24 * time.Hour

// Answer returns the stored answer to a task, and whether there is one that is not older than
// a week.
func (r *Repo) Answer(ctx context.Context, task string) (answer []byte, found bool, err error) {
	since := millis(r.db.now().Add(-answerLife))
	err = rows(ctx, r.db.read, "SELECT answer FROM answers WHERE repo_id = $1 AND task = $2 AND at >= $3",
		[]any{r.id, task, since}, into(&answer))
	return answer, answer != nil, r.db.fail("read answer", err)
}

// KeepAnswer stores the answer to a task until the review is saved.
func (r *Repo) KeepAnswer(ctx context.Context, task string, answer []byte) error {
	return r.change(ctx, "keep answer", func(tx *sql.Tx) error {
		return putRows(ctx, tx, "answers", "repo_id, task", "answer, at",
			[]any{r.id, task, string(answer), millis(r.db.now())})
	})
}

// DropAnswers deletes the answers to the tasks, and all that are too old.
func (r *Repo) DropAnswers(ctx context.Context, tasks []string) error {
	return r.change(ctx, "drop answers", func(tx *sql.Tx) error {
		if err := executeIn(ctx, tx, "DELETE FROM answers WHERE repo_id = $1 AND task IN (%s)", []any{r.id}, tasks); err != nil {
			return err
		}
		return execute(ctx, tx, "DELETE FROM answers WHERE repo_id = $1 AND at < $2", r.id,
			millis(r.db.now().Add(-answerLife)))
	})
}
