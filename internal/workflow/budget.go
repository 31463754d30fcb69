package workflow

import (
	"context"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// Budget bounds one review, without regard to others.
func Budget(s *settings.Settings) *engine.Budget {
	return &engine.Budget{USD: s.MaxCost.Value, Tokens: s.MaxTokens.Value}
}

// bookedBudget is a Budget that also keeps the bounds of the day and of the pull
// request, 0 for none, across processes.
func bookedBudget(s *settings.Settings, rows *store.Repo, pull int) *engine.Budget {
	b := Budget(s)
	bounds := store.Bounds{Number: pull, Day: s.MaxCostPerDay.Value, Pull: s.MaxCostPull.Value}
	b.Book = func(ctx context.Context, amount float64, spent bool) error {
		within := bounds
		if spent {
			within.Day, within.Pull = math.Inf(1), math.Inf(1)
		}
		booked, err := rows.Book(ctx, amount, within)
		total, limit := booked.Day, bounds.Day
		if booked.Over != "day" {
			total, limit = booked.Pull, bounds.Pull
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: the cost cannot be recorded: %w", engine.ErrOverBudget, err)
		case booked.Over != "":
			return fmt.Errorf("%w: $%.2f of the %s's $%.2f are spent or reserved, and the next request may cost $%.2f", engine.ErrOverBudget, total, booked.Over, limit, amount)
		}
		return nil
	}
	return b
}
