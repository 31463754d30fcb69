package pull

import (
	"context"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/settings"
)

// clockSkew is by how much the clock of a forge may differ from ours, generously.
const clockSkew = time.Hour

// PostedSpending returns what reads spentToday; nil without a key, with which no summary counts.
func (p *Pull) PostedSpending(s *settings.Settings) func(context.Context) (float64, error) {
	if p.Conn.Key.IsZero() {
		return nil
	}
	return func(ctx context.Context) (float64, error) { return p.spentToday(ctx, s) }
}

// spentToday returns the dollars that the reviews of all pull requests of the repository have cost on this
// day (UTC), as their summaries say. Only comments of our account with a valid signature count. If they
// cannot all be read, that is an error only if the operator has set the limit, else a notice.
func (p *Pull) spentToday(ctx context.Context, s *settings.Settings) (float64, error) {
	now := p.Env.Now().UTC()
	today := now.Format(time.DateOnly)
	me, err := p.Conn.Me(ctx)
	var said []forge.NumberedComment
	if err == nil {
		said, err = p.commentsSince(ctx, now.Truncate(24*time.Hour).Add(-clockSkew))
	}
	most := map[int]int64{} // by pull request
	for _, c := range said {
		if c.Author.ID != me.ID || me.ID == "" {
			continue
		}
		w := p.Writer
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
		p.Env.Notice(ctx, "%v; what other runs have spent today is not counted", p.Conn.Explain(err))
		err = nil
	}
	return total, err
}

// maxSpendingPages bounds the pages of comments that are read to know what a day has cost: 10,000 comments on
// GitHub, and up to 5,000 on Gitea.
const maxSpendingPages = 100

// commentsSince reads the comments on pull requests as a whole that were written or edited since a time. If
// there are more than it reads, it returns some and a KindTooLarge error.
func (p *Pull) commentsSince(ctx context.Context, since time.Time) (all []forge.NumberedComment, err error) {
	q := forge.HistoryQuery{Stream: forge.StreamWhole, Since: since}
	for range maxSpendingPages {
		page, err := p.Conn.History(ctx, p.Repo.Repo, q)
		all = append(all, page.Comments...)
		if q.Cursor = page.Next; err != nil || q.Cursor == "" {
			return all, err
		}
	}
	return all, &forge.Error{
		Kind: forge.KindTooLarge, Msg: fmt.Sprintf("read comments of %s: only the first %d were read", p.Repo.Repo, len(all)),
	}
}

// deduct takes what answers to comments cost off the budget of a review.
func (p *Pull) deduct(b *engine.Budget) {
	if b == nil {
		return
	}
	if b.Tokens > 0 {
		b.Tokens = max(b.Tokens-p.SpentTokens, 1) // 0 would be no bound
	}
	if b.USD > 0 {
		b.USD = max(b.USD-p.SpentUSD, 1e-6)
	}
}
