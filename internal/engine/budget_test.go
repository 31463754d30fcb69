package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestBudget(t *testing.T) {
	b := &Budget{USD: 1, Tokens: 1000}
	charge := needs.Value(b.Reserve(t.Context(), 400, 0.6))(t)
	if _, err := b.Reserve(t.Context(), 100, 0.5); !errors.Is(err, ErrOverBudget) {
		t.Errorf("dollars: %v", err)
	}
	if _, err := b.Reserve(t.Context(), 700, 0.1); !errors.Is(err, ErrOverBudget) {
		t.Errorf("tokens: %v", err)
	}
	charge(100, 0.1) // it took less than was set aside
	if _, err := b.Reserve(t.Context(), 700, 0.5); err != nil {
		t.Errorf("after settling: %v", err)
	}
	if tokens, usd := b.Spent(); tokens != 800 || math.Abs(usd-0.6) > 1e-9 {
		t.Errorf("spent %d tokens, $%.2f", tokens, usd)
	}
}

func TestBudgetOfTheDay(t *testing.T) {
	total, calls := 0.0, 0
	b := &Budget{Book: func(ctx context.Context, usd float64, spent bool) error {
		if calls++; ctx.Err() != nil {
			return ctx.Err()
		}
		if !spent && total+usd > 1 {
			return ErrOverBudget
		}
		total += usd
		return nil
	}}
	charge := needs.Value(b.Reserve(t.Context(), 1, 0.9))(t)
	if _, err := b.Reserve(t.Context(), 1, 0.2); !errors.Is(err, ErrOverBudget) {
		t.Errorf("second: %v", err)
	}
	charge(1, 0.3)
	charge = needs.Value(b.Reserve(t.Context(), 1, 0.1))(t)
	if calls != 2 || math.Abs(total-0.9) > 1e-9 {
		t.Errorf("%d bookings, the day has %.2f; the rest of an estimate is for the next request", calls, total)
	}
	charge(1, 2) // more than was expected, and more than the day has left: it was spent
	if math.Abs(total-2.3) > 1e-9 {
		t.Errorf("the day has %.2f after it was overspent", total)
	}
}

// TestRelease returns what estimates were higher than the costs, once, and also when
// the review was cancelled.
func TestRelease(t *testing.T) {
	total := 0.0
	b := &Budget{Book: func(ctx context.Context, usd float64, _ bool) error {
		total += usd
		return ctx.Err()
	}}
	ctx, cancel := context.WithCancel(t.Context())
	for range 3 {
		charge := needs.Value(b.Reserve(ctx, 1, 0.9))(t)
		charge(1, 0.2)
	}
	cancel()
	for range 2 {
		if err := b.Release(ctx); err != nil || math.Abs(total-0.6) > 1e-9 {
			t.Errorf("the day has %.2f after $0.60 were spent, %v", total, err)
		}
	}
}

// TestWithin bounds an engine that tells what it took only afterwards.
func TestWithin(t *testing.T) {
	e := &counting{status: precedent.StatusOK} // $0.50 a task
	bounded := (&Budget{USD: 1}).Within(e)
	var got []precedent.Status
	for range 3 {
		a, err := bounded.Run(t.Context(), Task{Prompt: "p"})
		needs.NoError(t, err)
		got = append(got, a.Status)
	}
	if want := []precedent.Status{"ok", "ok", "over-budget"}; !slices.Equal(got, want) || e.n != 2 {
		t.Errorf("%v after %d tasks, want %v", got, e.n, want)
	}
	silent := (&Budget{Tokens: 300}).Within(&counting{status: precedent.StatusOK, silent: true})
	got = nil
	for range 3 {
		a := needs.Value(silent.Run(t.Context(), Task{Prompt: strings.Repeat("word ", 100)}))(t)
		got = append(got, a.Status)
	}
	if want := []precedent.Status{"ok", "ok", "over-budget"}; !slices.Equal(got, want) {
		t.Errorf("%v without usage, want %v", got, want)
	}
	a, err := (&Budget{Tokens: 10}).Within(e).Run(t.Context(), Task{Prompt: strings.Repeat("word ", 100)})
	if err != nil || a.Status != precedent.StatusOverBudget || e.n != 2 {
		t.Errorf("a prompt beyond the bound: %s, %v", a.Status, err)
	}
}

// TestBudgetIsNeverExceeded reserves from many goroutines at once.
func TestBudgetIsNeverExceeded(t *testing.T) {
	b := &Budget{Tokens: 1000}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if charge, err := b.Reserve(context.Background(), 100, 0); err == nil {
				charge(100, 0)
			}
		})
	}
	wg.Wait()
	if tokens, _ := b.Spent(); tokens != 1000 {
		t.Errorf("%d tokens", tokens)
	}
}
