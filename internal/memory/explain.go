package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Explanation is everything that led to a finding being shown or hidden, as the
// review that saw it last decided.
type Explanation struct {
	Finding precedent.Finding    `json:"finding"`
	Trail   []precedent.Decision `json:"trail"`
	// Duplicates are the review's findings that were dropped in favour of this one.
	Duplicates []precedent.Finding `json:"duplicates"`
	Review     ReviewRef           `json:"review"`
	Seen       int                 `json:"seen"` // reviews that showed it
	FirstSeen  time.Time           `json:"first_seen"`
	LastSeen   time.Time           `json:"last_seen"`
	// Dismissal is the rejection of this very finding that holds now, or nil:
	// the next review goes by it.
	Dismissal *precedent.Rejection `json:"dismissal"`
	// Spoke are the rejections that the trail names and that still hold.
	Spoke []precedent.Rejection `json:"spoke"`
}

// ReviewRef names a review and the bounds that it decided by.
type ReviewRef struct {
	ID        string          `json:"id"`
	At        time.Time       `json:"at"`
	Base      string          `json:"base"`
	Head      string          `json:"head"`
	Scope     precedent.Scope `json:"scope"`
	Threshold int             `json:"threshold"`
}

// Explain explains the finding whose id starts with the prefix. Errors are those
// of Dismiss.
func (m *Memory) Explain(ctx context.Context, idPrefix string) (Explanation, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return Explanation{}, err
	}
	known, err := findFinding(ctx, rows, idPrefix)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Finding: known.Finding, Seen: known.Seen, FirstSeen: known.First, LastSeen: known.Last}
	review, err := rows.Review(ctx, known.LastReview)
	switch {
	case errors.Is(err, store.ErrNoReview): // what the finding itself says has to do
	case err != nil:
		return Explanation{}, err
	default:
		e.from(review, known.Fingerprint)
		e.Finding.ID = known.ID // the repository may have got another name since
	}
	if e.Dismissal, err = rows.Rejection(ctx, known.Fingerprint, m.Now()); err != nil {
		return Explanation{}, err
	}
	holding, err := rows.Rejections(ctx, m.Now(), maxRejections)
	e.Spoke = slices.DeleteFunc(holding, func(j precedent.Rejection) bool {
		return !slices.ContainsFunc(e.Trail, func(d precedent.Decision) bool { return d.By == j.ID })
	})
	return e, err
}

// from fills in what the review says of the finding with the fingerprint.
func (e *Explanation) from(review *precedent.Review, fingerprint string) {
	e.Review = ReviewRef{
		ID: review.ID, At: review.At, Base: review.Base, Head: review.Head, Scope: review.Scope, Threshold: review.Threshold,
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
