package store

import (
	"context"
	"database/sql"

	"github.com/precedent-dev/precedent"
)

func (r *Repo) saveDecisions(ctx context.Context, tx *sql.Tx, review *precedent.Review) error {
	var decisions [][]any
	for i, f := range review.Findings {
		for n, d := range f.Trail {
			decisions = append(decisions, []any{review.ID, r.id, i, n, d.Step, d.Text, d.Delta, d.By})
		}
	}
	return insertRows(ctx, tx, "INSERT INTO decisions (review_id, repo_id, finding, nth, step, text, delta, caused_by)",
		"", decisions)
}

func (r *Repo) readDecisions(ctx context.Context, review *precedent.Review) error {
	return rows(ctx, r.db.read, `
		SELECT finding, step, text, delta, caused_by FROM decisions
		WHERE repo_id = $1 AND review_id = $2 ORDER BY finding, nth`,
		[]any{r.id, review.ID}, func(s scanner) error {
			var i int
			var d precedent.Decision
			if err := s.Scan(&i, &d.Step, &d.Text, &d.Delta, &d.By); err != nil {
				return err
			}
			if i >= 0 && i < len(review.Findings) {
				f := &review.Findings[i]
				f.Trail = append(f.Trail, d)
			}
			return nil
		})
}

// Effect is a decision that a memory caused about a finding.
type Effect struct {
	Review  string // its id
	Finding int    // its place among those of the review
	precedent.Decision
}

// Effects returns the last decisions that the memory with the id caused, the newest first.
func (r *Repo) Effects(ctx context.Context, id string, limit int) ([]Effect, error) {
	all, err := collect(ctx, r.db.read, `
		SELECT review_id, finding, step, text, delta, caused_by FROM decisions
		WHERE repo_id = $1 AND caused_by = $2 AND caused_by <> '' ORDER BY review_id DESC, finding, nth LIMIT $3`,
		[]any{r.id, id, limit}, func(s scanner, e *Effect) error {
			return s.Scan(&e.Review, &e.Finding, &e.Step, &e.Text, &e.Delta, &e.By)
		})
	return all, r.db.fail("read decisions", err)
}
