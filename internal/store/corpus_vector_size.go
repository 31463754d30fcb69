package store

import (
	"context"
	"database/sql"
	"errors"
)

// CorpusVectorSize returns the number of dimensions that most vectors of a model have; 0 if there
// are none.
func (r *Repo) CorpusVectorSize(ctx context.Context, model string) (int, error) {
	size := 0
	err := row(ctx, r.db.read, `SELECT dimensions FROM corpus_vectors WHERE repo_id = $1 AND model = $2
		GROUP BY dimensions ORDER BY COUNT(*) DESC, dimensions LIMIT 1`, []any{r.id, model}, into(&size))
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return size, r.db.fail("read vectors of the corpus", err)
}
