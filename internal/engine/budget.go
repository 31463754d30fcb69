package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
)

// ErrOverBudget is wrapped by the error of a reservation that no budget covers.
var ErrOverBudget = errors.New("over budget")

// The default bounds: of one review, of all reviews of a pull request, and of
// all reviews of a day.
const (
	DefaultReviewUSD    = 2.0
	DefaultReviewTokens = 2_000_000
	DefaultPullUSD      = 10.0
	DefaultDayUSD       = 50.0
)

// Budget bounds what the requests of one review may take. It is asked before
// each request with an estimate, so that a bound is kept and not noticed
// afterwards. It is safe for concurrent use.
type Budget struct {
	USD    float64 // dollars; 0 means no bound
	Tokens int     // input and output together; 0 means no bound
	// Book books dollars across processes; nil for no such bound. An estimate is
	// booked or refused with an error that says why; what was spent in truth,
	// as the difference to its estimate, is booked whatever the bound.
	Book func(ctx context.Context, usd float64, spent bool) error

	mu     sync.Mutex
	usd    float64
	tokens int
}

// Reserve sets an estimate aside, or fails with an error that wraps
// ErrOverBudget. settle replaces the estimate by what it was in truth; it is
// called once, after the request.
func (b *Budget) Reserve(ctx context.Context, tokens int, usd float64) (settle func(tokens int, usd float64), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.USD > 0 && (b.usd+usd > b.USD || b.usd >= b.USD):
		return nil, fmt.Errorf("%w: $%.2f of $%.2f are spent or set aside, and the next request may take $%.2f", ErrOverBudget, b.usd, b.USD, usd)
	case b.Tokens > 0 && b.tokens+tokens > b.Tokens:
		return nil, fmt.Errorf("%w: %d of %d tokens are spent or set aside, and the next request may take %d", ErrOverBudget, b.tokens, b.Tokens, tokens)
	}
	if b.Book != nil && usd > 0 {
		if err := b.Book(ctx, usd, false); err != nil {
			return nil, err
		}
	}
	b.usd += usd
	b.tokens += tokens
	return func(realTokens int, realUSD float64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.usd += realUSD - usd
		b.tokens += realTokens - tokens
		if b.Book != nil && realUSD != usd {
			// The review may be cancelled; the books are kept all the same. Should
			// this fail, the books have the estimate instead of the truth.
			_ = b.Book(context.WithoutCancel(ctx), realUSD-usd, true)
		}
	}, nil
}

// Spent returns what is spent or set aside.
func (b *Budget) Spent() (tokens int, usd float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tokens, b.usd
}

// Within keeps an engine within the budget that meters itself only afterwards,
// by the usage of its answers. Before a task its prompt is counted, and the
// dollars that the task before it took.
func (b *Budget) Within(e Engine) Engine { return &bounded{Engine: e, budget: b} }

type bounded struct {
	Engine
	budget *Budget
	mu     sync.Mutex
	last   float64 // dollars
}

func (x *bounded) Run(ctx context.Context, t Task) (Answer, error) {
	const charsPerToken = 4 // as providers give it for English and code
	x.mu.Lock()
	usd := x.last
	x.mu.Unlock()
	settle, err := x.budget.Reserve(ctx, (len(t.System)+len(t.User()))/charsPerToken, usd)
	if err != nil {
		return Answer{Status: precedent.StatusOverBudget, Message: err.Error()}, nil
	}
	a, err := x.Engine.Run(ctx, t)
	settle(a.Usage.InputTokens+a.Usage.OutputTokens, a.CostUSD)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.last = a.CostUSD
	return a, err
}
