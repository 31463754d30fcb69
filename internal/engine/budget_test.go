package engine

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
)

func TestBudget(t *testing.T) {
	b := &Budget{USD: 1, Tokens: 1000}
	settle, err := b.Reserve(t.Context(), 400, 0.6)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(t.Context(), 100, 0.5); !errors.Is(err, ErrOverBudget) {
		t.Errorf("dollars: %v", err)
	}
	if _, err := b.Reserve(t.Context(), 700, 0.1); !errors.Is(err, ErrOverBudget) {
		t.Errorf("tokens: %v", err)
	}
	settle(100, 0.1) // it took less than was set aside
	if _, err := b.Reserve(t.Context(), 700, 0.5); err != nil {
		t.Errorf("after settling: %v", err)
	}
	if tokens, usd := b.Spent(); tokens != 800 || math.Abs(usd-0.6) > 1e-9 {
		t.Errorf("spent %d tokens, $%.2f", tokens, usd)
	}
}

func TestBudgetOfTheDay(t *testing.T) {
	total := 0.0
	b := &Budget{Day: func(_ context.Context, usd float64) error {
		if total+usd > 1 {
			return ErrOverBudget
		}
		total += usd
		return nil
	}}
	settle, err := b.Reserve(t.Context(), 1, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reserve(t.Context(), 1, 0.2); !errors.Is(err, ErrOverBudget) {
		t.Errorf("second: %v", err)
	}
	settle(1, 0.3)
	if math.Abs(total-0.3) > 1e-9 {
		t.Errorf("the day has %.2f", total)
	}
}

// TestBudgetIsNeverExceeded reserves from many goroutines at once.
func TestBudgetIsNeverExceeded(t *testing.T) {
	b := &Budget{Tokens: 1000}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if settle, err := b.Reserve(context.Background(), 100, 0); err == nil {
				settle(100, 0)
			}
		})
	}
	wg.Wait()
	if tokens, _ := b.Spent(); tokens != 1000 {
		t.Errorf("%d tokens", tokens)
	}
}
