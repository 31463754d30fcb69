package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
)

// Labels returns the newest labels of posted findings since the last reset, at most limit,
// oldest first: those of outcomes, and of pruned findings. An outcome that says nothing about
// the finding is not one.
func (r *Repo) Labels(ctx context.Context, limit int) ([]calibration.Label, error) {
	labels, err := collect(ctx, r.db.read, `
		SELECT w.confidence, w.refit, w.accepted, w.finder, w.category, w.severity, w.at FROM (
			SELECT o.confidence, o.refit, o.accepted, o.finder, o.category, o.severity, o.at, o.fingerprint, o.pull
				FROM outcomes o
				WHERE o.repo_id = $1 AND o.accepted >= 0
			UNION ALL
			SELECT l.confidence, l.refit, l.accepted, l.finder, l.category, l.severity, l.at, l.fingerprint, 0 AS pull
				FROM labels l
				WHERE l.repo_id = $1 AND l.accepted >= 0 AND NOT EXISTS (
					SELECT 1 FROM outcomes o WHERE o.repo_id = $1 AND o.fingerprint = l.fingerprint AND o.accepted >= 0)
		) AS w
		WHERE w.at > COALESCE((SELECT s.at FROM threshold_resets s WHERE s.repo_id = $1), 0)
		ORDER BY w.at DESC, w.fingerprint DESC, w.pull DESC LIMIT $2`, []any{r.id, limit},
		func(s scanner, l *calibration.Label) error {
			return s.Scan(&l.Confidence, &l.Refit, &l.Accepted, &l.Finder, &l.Category, &l.Severity, (*moment)(&l.At))
		})
	slices.Reverse(labels)
	return labels, r.db.fail("read labels", err)
}

// labelOf is the column accepted of an outcome: 1, 0, or -1 if it tells neither.
func labelOf(o precedent.Outcome) int {
	accepted, ok := o.Label()
	if !ok {
		return -1
	}
	return zeroOne(accepted)
}

// ResetThreshold makes calibration start anew: it ignores labels up to the time.
func (r *Repo) ResetThreshold(ctx context.Context, at time.Time) error {
	return r.exec(ctx, "reset threshold", `INSERT INTO threshold_resets (repo_id, at) VALUES ($1, $2)
		ON CONFLICT (repo_id) DO UPDATE SET at = excluded.at WHERE threshold_resets.at < excluded.at`, millis(at))
}

// Threshold is the threshold of reviews from a time on.
type Threshold struct {
	Review    string    `json:"review_id"` // the first one with it
	At        time.Time `json:"at"`
	Threshold int       `json:"threshold"` // percent
	From      string    `json:"threshold_from"`
	Labels    int       `json:"labels"` // that calibration used
}

// Thresholds returns the newest changes of the threshold, at most limit, oldest first.
func (r *Repo) Thresholds(ctx context.Context, limit int) ([]Threshold, error) {
	found, err := r.thresholds(ctx, r.db.read, limit)
	slices.Reverse(found)
	return found, r.db.fail("read thresholds", err)
}

func (r *Repo) thresholds(ctx context.Context, q querier, limit int) ([]Threshold, error) {
	return collect(ctx, q, `SELECT review_id, at, threshold, source, labels FROM thresholds
		WHERE repo_id = $1 ORDER BY at DESC, review_id DESC LIMIT $2`, []any{r.id, limit}, func(s scanner, t *Threshold) error {
		return s.Scan(&t.Review, (*moment)(&t.At), &t.Threshold, &t.From, &t.Labels)
	})
}

// saveThreshold adds a row if the review's threshold or its source is a new one.
func (r *Repo) saveThreshold(ctx context.Context, tx *sql.Tx, review *precedent.Review, at int64) error {
	if review.ThresholdFrom == "" {
		return nil
	}
	last, err := r.thresholds(ctx, tx, 1)
	if err != nil {
		return err
	}
	if len(last) == 1 && last[0].Threshold == review.Threshold && last[0].From == review.ThresholdFrom {
		return nil
	}
	return execute(ctx, tx, `INSERT INTO thresholds (repo_id, review_id, at, threshold, source, labels)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (repo_id, review_id) DO NOTHING`,
		r.id, review.ID, at, review.Threshold, review.ThresholdFrom, review.Memory.Labels)
}
