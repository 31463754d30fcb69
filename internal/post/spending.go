package post

import (
	"context"
	"math"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
)

// spending returns what the marker of the summary is to say: what it says already and the cost
// of this review, which is counted once. Only a signed marker says it.
func (j *job) spending(shown comment.Marker) comment.Spending {
	s, day := shown.Spent, j.review.At.UTC().Format(time.DateOnly)
	cost := int64(math.Round(j.review.CostUSD * 1e6))
	switch {
	case j.writer.Key.IsZero():
		return comment.Spending{}
	case cost <= 0, shown.Review == j.review.ID, s.Day > day:
		return s
	case s.Day < day:
		s = comment.Spending{Day: day}
	}
	s.Microdollars += cost
	return s
}

// spentSince returns what the summary with this id is to say when this run edits it. What it
// has said since this run claimed it has the cost of this review.
func (j *job) spentSince(id precedent.ForgeID) comment.Spending {
	o, shown := j.summaryOf(id)
	switch {
	case !shown:
		return j.claim.spent
	case id == j.claim.summary:
		return o.Spent
	}
	return j.spending(o.Marker)
}

// addSpending adds the cost of a review that is not posted to the summary of another one, if
// there is one that no run has claimed. If it cannot, a note says so.
func (j *job) addSpending(ctx context.Context) {
	if j.review == nil || j.claim.spent != (comment.Spending{}) || j.spending(comment.Marker{}) == (comment.Spending{}) {
		return
	}
	err := j.readForge(ctx)
	o, ok := j.state.find(isSummary)
	if _, busy := j.rival(); err == nil && ok && !busy {
		body, _ := j.writer.WithSpending(string(o.Body), j.spending(o.Marker))
		err = j.Forge.Edit(ctx, j.repo, j.number, forge.CommentRef{Kind: forge.OnThread, ID: o.ID}, body)
	}
	if err != nil {
		j.note("other runs do not count what this review has cost: %v", err)
	}
}
