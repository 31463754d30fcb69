package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// Shared are the rows of a repository that its clones share. What only counts on one machine
// is not among them: ids of dismissals and their hits, and how often learnings were used.
type Shared struct {
	Learnings  []precedent.Learning
	History    []SharedChange
	Dismissals []precedent.Dismissal // expired ones included
	Forgotten  []Forgotten
	Outcomes   []precedent.Outcome
	Labels     []Label
	Findings   []SharedFinding // of which the last shown are shared
	Insights   []precedent.Insight
}

// SharedChange is an entry of the history of a learning.
type SharedChange struct {
	Learning string `json:"learning"`
	LearningChange
}

// Forgotten says that a dismissal was taken back. Dismissals of the fingerprint that were made
// until then do not hold.
type Forgotten struct {
	Fingerprint string    `json:"fingerprint"`
	At          time.Time `json:"at"`
}

// Label is what stays of a pruned finding.
type Label struct {
	Fingerprint string             `json:"fingerprint"`
	Place       string             `json:"place"`
	Finder      string             `json:"finder"`
	Category    precedent.Category `json:"category"`
	Severity    precedent.Severity `json:"severity"`
	Confidence  int                `json:"confidence"`
	Outcome     string             `json:"outcome"`  // empty if there was none
	Accepted    *bool              `json:"accepted"` // whether the team accepted it; nil if that is not known
	Refit       int                `json:"refit"`    // percent points of the confidence that came from earlier labels
	At          time.Time          `json:"at"`
}

// forgottenDismissal is the kind of the rows of taken back dismissals.
const forgottenDismissal = "rejection"

// Shared returns the rows that clones share, as they are at one moment.
func (r *Repo) Shared(ctx context.Context) (Shared, error) {
	var s Shared
	err := r.change(ctx, "read shared memory", func(tx *sql.Tx) (err error) {
		s, err = r.shared(ctx, tx)
		return err
	})
	return s, err
}

func (r *Repo) shared(ctx context.Context, q querier) (Shared, error) {
	var s Shared
	var err error
	if s.Learnings, err = r.learnings(ctx, q, "TRUE ORDER BY l.id"); err != nil {
		return s, err
	}
	s.History, err = collect(ctx, q,
		"SELECT id, at, who, action, document FROM learning_history WHERE repo_id = $1 ORDER BY id, nth", []any{r.id},
		func(row scanner, c *SharedChange) error {
			return row.Scan(&c.Learning, (*moment)(&c.At), &c.Who, &c.Action, document{&c.After})
		})
	if err != nil {
		return s, err
	}
	if s.Dismissals, err = r.dismissals(ctx, q, "TRUE ORDER BY fingerprint"); err != nil {
		return s, err
	}
	if s.Forgotten, err = r.forgotten(ctx, q); err != nil {
		return s, err
	}
	s.Outcomes, err = documents[precedent.Outcome](ctx, q,
		"SELECT document FROM outcomes WHERE repo_id = $1 ORDER BY pull, fingerprint", []any{r.id})
	if err != nil {
		return s, err
	}
	s.Labels, err = collect(ctx, q, "SELECT fingerprint, place, finder, category, severity, confidence, outcome, "+
		"accepted, refit, at FROM labels WHERE repo_id = $1 ORDER BY fingerprint", []any{r.id},
		func(row scanner, l *Label) error {
			var accepted int
			err := row.Scan(&l.Fingerprint, &l.Place, &l.Finder, &l.Category, &l.Severity, &l.Confidence, &l.Outcome,
				&accepted, &l.Refit, (*moment)(&l.At))
			if accepted >= 0 {
				l.Accepted = new(accepted == 1)
			}
			return err
		})
	if err != nil {
		return s, err
	}
	if s.Findings, err = r.sharedFindings(ctx, q); err != nil {
		return s, err
	}
	s.Insights, err = r.insights(ctx, q, "i.dismissed_at = 0 ORDER BY i.updated_at DESC, i.id LIMIT $2", maxInsights)
	return s, err
}

// forgotten returns what was taken back, ordered by fingerprint.
func (r *Repo) forgotten(ctx context.Context, q querier) ([]Forgotten, error) {
	return collect(ctx, q, "SELECT id, at FROM forgotten WHERE repo_id = $1 AND kind = $2 ORDER BY id",
		[]any{r.id, forgottenDismissal}, func(row scanner, f *Forgotten) error {
			return row.Scan(&f.Fingerprint, (*moment)(&f.At))
		})
}

// notBefore returns the time at which a row changes that was changed at another one: later, also if the clock of the
// machine that did is ahead, so that a merge keeps the change.
func notBefore(at, last time.Time) time.Time {
	if at.Before(last) {
		return last.Add(time.Millisecond)
	}
	return at
}

// MergeShared saves the rows that merge returns for the present ones, in one transaction: each
// replaces the one with its key, dismissals that were taken back are deleted, and the history of
// a learning is replaced as a whole. Merge may be called more than once.
func (r *Repo) MergeShared(ctx context.Context, merge func(Shared) (Shared, error)) error {
	return r.change(ctx, "merge memory", func(tx *sql.Tx) error {
		now, err := r.shared(ctx, tx)
		if err != nil {
			return err
		}
		news, err := merge(now)
		if err != nil {
			return err
		}
		for _, save := range []func(context.Context, *sql.Tx, Shared) error{
			r.mergeLearnings, r.mergeDismissals, r.mergeLabels, r.mergeFindings,
		} {
			if err := save(ctx, tx, news); err != nil {
				return err
			}
		}
		for _, o := range news.Outcomes {
			if err := r.setOutcome(ctx, tx, o); err != nil {
				return err
			}
		}
		return r.saveInsights(ctx, tx, news.Insights)
	})
}

func (r *Repo) mergeLearnings(ctx context.Context, tx *sql.Tx, s Shared) error {
	for _, l := range s.Learnings {
		if err := r.setLearning(ctx, tx, l); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.History, func(a, b SharedChange) int {
		return cmp.Or(cmp.Compare(a.Learning, b.Learning), a.At.Compare(b.At))
	})
	for i, nth := 0, 0; i < len(s.History); i, nth = i+1, nth+1 {
		c := s.History[i]
		if i == 0 || s.History[i-1].Learning != c.Learning {
			nth = 0
			if err := execute(ctx, tx, "DELETE FROM learning_history WHERE repo_id = $1 AND id = $2", r.id,
				c.Learning); err != nil {
				return err
			}
		}
		err := execute(ctx, tx,
			"INSERT INTO learning_history (repo_id, id, nth, at, who, action, document) VALUES ($1, $2, $3, $4, $5, $6, $7)",
			r.id, c.Learning, nth, millis(c.At), c.Who, c.Action, document{c.After})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Repo) mergeDismissals(ctx context.Context, tx *sql.Tx, s Shared) error {
	for _, j := range s.Dismissals {
		err := execute(ctx, tx, putDismissal+`,
				id = CASE WHEN rejections.at = excluded.at THEN rejections.id ELSE excluded.id END,
				hits = CASE WHEN rejections.at = excluded.at THEN rejections.hits ELSE 0 END,
				retired = CASE WHEN rejections.at = excluded.at THEN rejections.retired ELSE '' END`,
			r.dismissalValues(j, j.ExpiresAt)...)
		if err != nil {
			return err
		}
	}
	for _, f := range s.Forgotten {
		if err := r.forget(ctx, tx, f); err != nil {
			return err
		}
	}
	return nil
}

// forget records that a dismissal was taken back, and deletes it.
func (r *Repo) forget(ctx context.Context, tx *sql.Tx, f Forgotten) error {
	err := execute(ctx, tx, `
		INSERT INTO forgotten (repo_id, kind, id, at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (repo_id, kind, id) DO UPDATE SET at = CASE WHEN excluded.at > forgotten.at THEN excluded.at
			ELSE forgotten.at END`,
		r.id, forgottenDismissal, f.Fingerprint, millis(f.At))
	if err != nil {
		return err
	}
	return execute(ctx, tx, "DELETE FROM rejections WHERE repo_id = $1 AND fingerprint = $2 AND at <= $3", r.id,
		f.Fingerprint, millis(f.At))
}

func (r *Repo) mergeLabels(ctx context.Context, tx *sql.Tx, s Shared) error {
	var labels [][]any
	for _, l := range s.Labels {
		accepted := -1
		if l.Accepted != nil {
			accepted = zeroOne(*l.Accepted)
		}
		labels = append(labels, []any{
			r.id, l.Fingerprint, l.Place, l.Finder, l.Category, l.Severity, l.Confidence, l.Outcome, accepted, l.Refit,
			millis(l.At),
		})
	}
	return putRows(ctx, tx, "labels", "repo_id, fingerprint",
		"place, finder, category, severity, confidence, outcome, accepted, refit, at", labels...)
}
