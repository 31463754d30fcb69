package workspace

import (
	"context"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// BookedBudget bounds one review and, across processes, the day and the pull request, if its number is not 0. posted,
// which may be nil, is what was spent today as the forge knows it: runs whose memories are copies of one another do not
// see what the others book.
func BookedBudget(
	s *settings.Settings, rows *store.Repo, pull int, posted func(context.Context) (float64, error),
) *engine.Budget {
	b := &engine.Budget{USD: s.MaxCost.Value, Tokens: s.MaxTokens.Value}
	bounds := store.Bounds{Number: pull, Day: s.MaxCostPerDay.Value, Pull: s.MaxCostPull.Value}
	var onForge, own float64
	var unread error
	book := func(ctx context.Context, amount float64, within store.Bounds) error {
		switch booked, err := rows.Book(ctx, amount, within); {
		case err != nil:
			return fmt.Errorf("%w: the cost cannot be recorded: %w", engine.ErrOverBudget, err)
		case booked.Over == "day":
			return overBudget(booked.Over, booked.Day, within.Day, amount)
		case booked.Over != "":
			return overBudget(booked.Over, booked.Pull, within.Pull, amount)
		}
		own += amount
		return nil
	}
	b.Book = func(ctx context.Context, amount float64, spent bool) error {
		if spent {
			return book(ctx, amount, store.Bounds{Number: pull, Day: math.Inf(1), Pull: math.Inf(1)})
		}
		if posted != nil {
			onForge, unread = posted(ctx)
			posted = nil // it is read once
		}
		switch {
		case unread != nil:
			return fmt.Errorf("%w: what was spent today cannot be read: %w", engine.ErrOverBudget, unread)
		case onForge > 0 && onForge+own+amount > bounds.Day:
			return overBudget("day", onForge+own, bounds.Day, amount)
		}
		return book(ctx, amount, bounds)
	}
	return b
}

// overBudget says that an amount would exceed the limit of a day or a pull request.
func overBudget(of string, total, limit, amount float64) error {
	return fmt.Errorf("%w: $%.2f of the %s's $%.2f are spent or reserved, and the next request may cost $%.2f",
		engine.ErrOverBudget, total, of, limit, amount)
}
