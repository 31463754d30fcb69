package workflow

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
)

// Budget bounds one review, without regard to others.
func Budget(s *settings.Settings) *engine.Budget {
	return &engine.Budget{USD: s.MaxCost.Value, Tokens: s.MaxTokens.Value}
}

// bookedBudget is a Budget that also keeps the bounds of the day and of the pull
// request, if its number is not 0, across processes. posted, which may be nil, is what
// was spent today as the forge knows it: runs whose memories are copies of one another
// do not see what the others book.
func bookedBudget(s *settings.Settings, rows *store.Repo, pull int, posted func(context.Context) (float64, error)) *engine.Budget {
	b := Budget(s)
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
	return fmt.Errorf("%w: $%.2f of the %s's $%.2f are spent or reserved, and the next request may cost $%.2f", engine.ErrOverBudget, total, of, limit, amount)
}

// clockSkew is by how much the clock of a forge may differ from ours, generously.
const clockSkew = time.Hour

// postedSpending returns what reads spentToday; nil without a key, with which no summary counts.
func (p *Pull) postedSpending(s *settings.Settings) func(context.Context) (float64, error) {
	if p.connection.Key.IsZero() {
		return nil
	}
	return func(ctx context.Context) (float64, error) { return p.spentToday(ctx, s) }
}

// spentToday returns the dollars that the reviews of all pull requests of the repository have
// cost on this day (UTC), as their summaries say. Only comments of our account with a valid
// signature count. If they cannot all be read, that is an error only if the operator has set
// the limit, else a notice.
func (p *Pull) spentToday(ctx context.Context, s *settings.Settings) (float64, error) {
	now := p.reviewer.Now().UTC()
	today := now.Format(time.DateOnly)
	me, err := p.connection.Me(ctx)
	var said []forge.NumberedComment
	if err == nil {
		said, err = p.connection.CommentsSince(ctx, p.repo.Repo, now.Truncate(24*time.Hour).Add(-clockSkew))
	}
	most := map[int]int64{} // by pull request
	for _, c := range said {
		if c.Author.ID != me.ID || me.ID == "" {
			continue
		}
		w := p.writer
		w.PullRequest.Number = c.Number
		if m, ok := w.Read(string(c.Body)); ok && !c.Cut && m.Kind == comment.Summary && m.Spent.Day == today {
			most[c.Number] = max(most[c.Number], m.Spent.Microdollars)
		}
	}
	total := 0.0
	for _, n := range most {
		total += float64(n) / 1e6
	}
	if err != nil && ctx.Err() == nil && s.MaxCostPerDay.Source.By == settings.Default {
		p.reviewer.notice(ctx, "%v; what other runs have spent today is not counted", p.connection.Explain(err))
		err = nil
	}
	return total, err
}
