package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/precedent-dev/precedent"
)

// ErrOverBudget is wrapped by the error of a reservation beyond the budget.
var ErrOverBudget = errors.New("over budget")

// The default bounds: of one review, of all reviews of a pull request, and of all reviews of a day.
const (
	DefaultReviewUSD    = 2.0
	DefaultReviewTokens = 2_000_000
	DefaultPullUSD      = 10.0
	DefaultDayUSD       = 50.0
)

// minBooking is in dollars. Anything less is an error of floating-point arithmetic.
const minBooking = 1e-7

// Budget bounds what the requests of one review may use. Each request reserves an estimate before it is sent,
// so that a bound is exceeded at most by what the last answers take beyond their estimates. It is safe for
// concurrent use.
type Budget struct {
	USD    float64 // dollars; 0 means no bound
	Tokens int     // input and output together; 0 means no bound
	// Book books dollars across processes; nil for no such bound. What is not yet spent is booked or refused
	// with an error that says why; what is spent is always booked. What a request leaves of its estimate
	// stays booked for the next requests, because booking waits for the disk; Release returns it.
	Book func(ctx context.Context, usd float64, spent bool) error

	mu     sync.Mutex
	usd    float64 // spent or reserved
	booked float64 // by Book
	tokens int
}

// Reserve reserves an estimate, or returns an error that wraps ErrOverBudget. charge
// replaces the estimate by the actual usage so far; it is called at least once, after the request.
func (b *Budget) Reserve(ctx context.Context, tokens int, usd float64) (charge func(tokens int, usd float64),
	err error,
) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.USD > 0 && (b.usd+usd > b.USD || b.usd >= b.USD):
		return nil, fmt.Errorf("%w: $%.2f of $%.2f are spent or set aside, and the next request may take $%.2f",
			ErrOverBudget, b.usd, b.USD, usd)
	case b.Tokens > 0 && b.tokens+tokens > b.Tokens:
		return nil, fmt.Errorf("%w: %d of %d tokens are spent or set aside, and the next request may take %d", ErrOverBudget,
			b.tokens, b.Tokens, tokens)
	}
	if missing := b.usd + usd - b.booked; b.Book != nil && missing > minBooking {
		if err := b.Book(ctx, missing, false); err != nil {
			return nil, err
		}
		b.booked += missing
	}
	b.usd += usd
	b.tokens += tokens
	return func(realTokens int, realUSD float64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.usd += realUSD - usd
		b.tokens += realTokens - tokens
		usd, tokens = realUSD, realTokens
		if b.usd-b.booked > minBooking {
			_ = b.settle(ctx) // if this fails, the next request books what is missing
		}
	}, nil
}

// Release makes what is booked equal to what is spent, after the last request, even if
// ctx is cancelled. Without it the remains of the estimates stay booked.
func (b *Budget) Release(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.settle(ctx)
}

func (b *Budget) settle(ctx context.Context) error {
	if b.Book == nil || math.Abs(b.usd-b.booked) <= minBooking {
		return nil
	}
	if err := b.Book(context.WithoutCancel(ctx), b.usd-b.booked, true); err != nil {
		return err
	}
	b.booked = b.usd
	return nil
}

// Spent returns what is spent or reserved.
func (b *Budget) Spent() (tokens int, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens, b.usd
}

// Within bounds an engine whose usage is only known after each answer. Before a task
// it reserves the tokens of the prompt and the dollars of the previous task. If the
// engine does not say what it used, it is charged for the prompts and the answer.
func (b *Budget) Within(e Engine) Engine { return &bounded{Engine: e, budget: b} }

type bounded struct {
	Engine
	budget *Budget
	mu     sync.Mutex
	last   float64 // dollars
}

func (x *bounded) Run(ctx context.Context, t Task) (Answer, error) {
	x.mu.Lock()
	usd := x.last
	x.mu.Unlock()
	tokens := t.Expect()
	charge, err := x.budget.Reserve(ctx, tokens, usd)
	if err != nil {
		return Answer{Status: precedent.StatusOverBudget, Message: err.Error()}, nil
	}
	a, err := x.Engine.Run(ctx, t)
	if said := a.Usage.Tokens(); said > 0 {
		tokens = said
	} else {
		tokens = tokens*a.Usage.Requests + len(a.JSON)/charsPerToken
	}
	charge(tokens, a.CostUSD)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = a.CostUSD
	return a, err
}
