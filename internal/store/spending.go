package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"
)

// Bounds are limits in dollars. Infinity means no limit.
type Bounds struct {
	Day float64 // all reviews of the repository, in one day (UTC)
	// Pull is for all reviews of one pull request; it counts if Number is not 0.
	Pull   float64
	Number int
}

// Booked is the result of Book.
type Booked struct {
	Day, Pull float64 // the totals in dollars, with what was booked
	// Over is the limit that was exceeded, "day" or "pull request"; empty if the amount was
	// booked.
	Over string
}

// Book adds dollars, which may be negative, to the spending of the repository today and of the
// pull request: both or, if a limit would be exceeded, neither. It is atomic across processes.
func (r *Repo) Book(ctx context.Context, usd float64, b Bounds) (Booked, error) {
	books := []struct {
		name, table, column string
		key                 any
		limit               float64
	}{{"day", "spending", "day", r.db.now().UTC().Format(time.DateOnly), b.Day}}
	if b.Number != 0 {
		books = append(books, books[0])
		books[1].name, books[1].table, books[1].column, books[1].key, books[1].limit = "pull request", "pull_spending",
			"pull", b.Number, b.Pull
	}
	amount := int64(math.Round(usd * 1e6))
	var out Booked
	err := r.change(ctx, "book spending", func(tx *sql.Tx) error {
		out = Booked{}
		totals := []*float64{&out.Day, &out.Pull}
		for i, book := range books {
			var before int64
			query := fmt.Sprintf("SELECT microdollars FROM %s WHERE repo_id = $1 AND %s = $2", book.table, book.column)
			if err := rows(ctx, tx, query, []any{r.id, book.key}, into(&before)); err != nil {
				return err
			}
			*totals[i] = float64(before) / 1e6
			if out.Over == "" && amount > 0 && *totals[i]+usd > book.limit {
				out.Over = book.name
			}
		}
		if out.Over != "" {
			return nil
		}
		for i, book := range books {
			err := execute(ctx, tx, fmt.Sprintf(`
				INSERT INTO %[1]s (repo_id, %[2]s, microdollars) VALUES ($1, $2, $3)
				ON CONFLICT (repo_id, %[2]s) DO UPDATE SET microdollars = %[1]s.microdollars +
					excluded.microdollars`, book.table, book.column),
				r.id, book.key, amount)
			if err != nil {
				return err
			}
			*totals[i] += usd
		}
		return nil
	})
	return out, err
}
