package memory

import (
	"context"
	"errors"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Explain explains the finding whose id starts with the prefix. Its errors are those of
// Dismiss.
func (m *Memory) Explain(ctx context.Context, idPrefix string) (precedent.Explanation, error) {
	known, err := m.findFinding(ctx, idPrefix)
	if err != nil {
		return precedent.Explanation{}, err
	}
	e := precedent.Explanation{
		Duplicates: []precedent.Finding{}, Finding: known.Finding, Seen: known.Seen,
		FirstSeen: known.First, LastSeen: known.Last,
	}
	review, err := m.Rows.Review(ctx, known.LastReview)
	switch {
	case errors.Is(err, store.ErrNoReview): // only what is stored with the finding is known
	case err != nil:
		return precedent.Explanation{}, err
	default:
		fillFromReview(&e, review, known.Fingerprint)
		e.Finding.ID = known.ID // the name of the repository may have changed since
	}
	if e.Dismissal, err = m.Rows.Dismissal(ctx, known.Fingerprint, m.Now()); err != nil {
		return precedent.Explanation{}, err
	}
	if e.Retired, err = m.Rows.Retired(ctx, known.Fingerprint); err != nil {
		return precedent.Explanation{}, err
	}
	holding, err := m.Rows.Dismissals(ctx, m.Now(), maxDismissals)
	e.Dismissals = slices.DeleteFunc(holding, func(j precedent.Dismissal) bool {
		return !slices.ContainsFunc(e.Trail, func(d precedent.Decision) bool { return d.By == j.ID })
	})
	// JSON has empty lists, not null.
	e.Finding.Evidence = append([]precedent.Evidence{}, e.Finding.Evidence...)
	e.Finding.Cites = append([]precedent.Cite{}, e.Finding.Cites...)
	e.Trail = append([]precedent.Decision{}, e.Trail...)
	e.Dismissals = append([]precedent.Dismissal{}, e.Dismissals...)
	return e, err
}

// Find returns the id of the dismissal or learning whose id, or whose finding's id, starts with
// the prefix. Its errors are those of Dismiss.
func (m *Memory) Find(ctx context.Context, idPrefix string) (string, error) {
	find := func(ctx context.Context, prefix string, limit int) (found []string, err error) {
		dismissals, err := m.Rows.DismissalsByID(ctx, prefix, m.Now(), limit)
		if err != nil {
			return nil, err
		}
		for _, j := range dismissals {
			found = append(found, j.ID)
		}
		learnings, err := m.Rows.LearningsByID(ctx, prefix, limit)
		for _, l := range learnings {
			found = append(found, l.ID)
		}
		return found, err
	}
	return exactlyOne(ctx, idPrefix, find, func(id string) string { return id }, "no memory",
		"precedent explain names the memories that influenced a finding; threshold and policy can be left out, too")
}

func fillFromReview(e *precedent.Explanation, review *precedent.Review, fingerprint string) {
	e.Review = precedent.ReviewRef{
		ID: review.ID, At: review.At, Base: review.Base, Head: review.Head, Scope: review.Scope, Threshold: review.Threshold,
		ThresholdFrom: review.ThresholdFrom,
	}
	for _, f := range store.Fold(review.Findings) {
		if f.Fingerprint == fingerprint {
			e.Finding, e.Trail = *f, f.Trail
		}
	}
	for _, f := range review.Findings {
		if f.Dropped == precedent.Duplicate && f.DroppedBy == e.Finding.ID && e.Finding.Dropped != precedent.Duplicate {
			e.Duplicates = append(e.Duplicates, f)
		}
	}
}
