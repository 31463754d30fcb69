package store

import (
	"context"
	"database/sql"
	"math"
	"time"
)

// Book adds dollars, which may be negative, to what was spent on the repository
// today (UTC), unless that would take the day beyond the limit. It returns the
// day's total and whether it was booked. Processes that book at once each see
// what the others booked.
func (r *Repo) Book(ctx context.Context, usd, limit float64) (total float64, booked bool, err error) {
	day := r.db.now().UTC().Format(time.DateOnly)
	amount := int64(math.Round(usd * 1e6))
	err = r.db.change(ctx, "book spending", func(tx *sql.Tx) error {
		var before int64
		err := rows(ctx, tx, "SELECT microdollars FROM spending WHERE repo_id = $1 AND day = $2", []any{r.id, day}, into(&before))
		if err != nil {
			return err
		}
		total, booked = float64(before)/1e6, false
		if amount > 0 && total+usd > limit {
			return nil
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO spending (repo_id, day, microdollars) VALUES ($1, $2, $3)
			ON CONFLICT (repo_id, day) DO UPDATE SET microdollars = spending.microdollars + excluded.microdollars`,
			r.id, day, amount)
		total, booked = total+usd, err == nil
		return err
	})
	return total, booked && err == nil, err
}
