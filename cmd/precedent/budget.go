package main

import (
	"context"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// budget is what a review may take, with the books of the day and of the pull
// request, 0 for none, in the memory.
func budget(o *settings.Settings, rows *store.Repo, pull int) *engine.Budget {
	bounds := store.Bounds{Number: pull, Day: o.MaxCostPerDay.Value, Pull: o.MaxCostPull.Value}
	b := &engine.Budget{USD: o.MaxCost.Value, Tokens: o.MaxTokens.Value}
	if rows == nil {
		return b
	}
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
			return fmt.Errorf("%w: the books cannot be kept: %w", engine.ErrOverBudget, err)
		case booked.Over != "":
			return fmt.Errorf("%w: $%.2f of the %s's $%.2f are spent or set aside, and the next request may take $%.2f", engine.ErrOverBudget, total, booked.Over, limit, amount)
		}
		return nil
	}
	return b
}
