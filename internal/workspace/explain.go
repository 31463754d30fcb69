package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
)

// Explain explains the finding whose id starts with the prefix. If names of what influenced it
// are given, it also says what the review would have decided without them: "threshold",
// "policy", or the beginning of the id of a memory or of a dismissed finding.
func (w *Workspace) Explain(ctx context.Context, idPrefix string, without []string) (precedent.Explanation, error) {
	e, err := w.Memory.Explain(ctx, idPrefix)
	if err != nil || len(without) == 0 {
		return e, err
	}
	rows, err := w.Rows(ctx)
	if err != nil {
		return e, err
	}
	r, err := rows.Review(ctx, e.Review.ID)
	if errors.Is(err, store.ErrNoReview) {
		return e, Hinted(fmt.Errorf("the last review of finding %s is no longer stored", e.Finding.ID),
			"review the change again")
	}
	if err != nil {
		return e, err
	}
	out := review.LeaveOut(r, without)
	for _, name := range out.Unknown {
		id, err := w.Memory.Find(ctx, name)
		if err != nil {
			return e, err
		}
		out.Names = append(out.Names, id)
	}
	c, err := review.Without(r, e.Finding.Fingerprint, out)
	if errors.Is(err, review.ErrNoBasis) {
		return e, Hinted(fmt.Errorf("finding %s cannot be decided again: %w", e.Finding.ID, err),
			"an earlier version of precedent made the review; review the change again")
	}
	e.Counterfactual = &c
	return e, err
}
