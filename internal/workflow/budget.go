package workflow

import (
	"context"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/store"
)

// Limits bound what reviews may take.
type Limits struct {
	ReviewTokens               int
	ReviewUSD, PullUSD, DayUSD float64
}

// Budget bounds one review, without regard to others.
func (l Limits) Budget() *engine.Budget {
	return &engine.Budget{USD: l.ReviewUSD, Tokens: l.ReviewTokens}
}

// booked is a Budget that also keeps the bounds of the day and of the pull
// request, 0 for none, across processes.
func (l Limits) booked(rows *store.Repo, pull int) *engine.Budget {
	b := l.Budget()
	b.Book = func(ctx context.Context, amount float64, spent bool) error {
		within := store.Bounds{Number: pull, Day: l.DayUSD, Pull: l.PullUSD}
		if spent {
			within.Day, within.Pull = math.Inf(1), math.Inf(1)
		}
		booked, err := rows.Book(ctx, amount, within)
		total, limit := booked.Day, l.DayUSD
		if booked.Over != "day" {
			total, limit = booked.Pull, l.PullUSD
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: the books cannot be kept: %w", engine.ErrOverBudget, err)
		case booked.Over != "":
			return fmt.Errorf("%w: $%.2f of the %s's $%.2f are spent or set aside, and the next request may take $%.2f", engine.ErrOverBudget, total, booked.Over, limit, amount)
		}
		return nil
	}
	return b
}
