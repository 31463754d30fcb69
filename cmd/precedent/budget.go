package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/store"
)

// budget is what a review may take, with the books of the day and of the pull
// request, 0 for none, in the memory.
func budget(o operator, rows *store.Repo, pull int) (*engine.Budget, error) {
	usd, err := dollars(o.get(maxCostKnob, formatDollars(engine.DefaultReviewUSD), "default"))
	if err != nil {
		return nil, err
	}
	bounds := store.Bounds{Number: pull}
	if bounds.Day, err = dollars(o.get(dayCostKnob, formatDollars(engine.DefaultDayUSD), "default")); err != nil {
		return nil, err
	}
	if bounds.Pull, err = dollars(o.get(pullCostKnob, formatDollars(engine.DefaultPullUSD), "default")); err != nil {
		return nil, err
	}
	tokens, err := strconv.Atoi(o.get(maxTokensKnob, strconv.Itoa(engine.DefaultReviewTokens), "default").Value)
	if err != nil {
		return nil, err
	}
	b := &engine.Budget{USD: usd, Tokens: tokens}
	if rows == nil {
		return b, nil
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
	return b, nil
}

func dollars(s setting) (float64, error) {
	f, err := strconv.ParseFloat(strings.TrimPrefix(s.Value, "$"), 64)
	if err != nil {
		return 0, fmt.Errorf("%s (%s): %q is no amount of dollars", s.Key, s.Source, s.Value)
	}
	return f, nil
}

func formatDollars(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

func checkDollars(s string) error {
	if f, err := strconv.ParseFloat(strings.TrimPrefix(s, "$"), 64); err != nil || f <= 0 || f > 1e6 {
		return fmt.Errorf("%q is no amount of dollars above 0", s)
	}
	return nil
}
