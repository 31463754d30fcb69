package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// ErrNoReview says that no review has the id.
var ErrNoReview = errors.New("no such review")

// unindexed is what a review knows and its result does not show.
type unindexed struct {
	// The words of the repository's identity, because the result has them in one.
	Host, Owner, Name string
	Target            precedent.Target
	// Findings is as long as the review's findings.
	Findings []unindexedFinding
}

type unindexedFinding struct {
	Analyzer   bool   `json:",omitempty"`
	Place      string `json:",omitempty"`
	Inexact    bool   `json:",omitempty"`
	DroppedWhy string `json:",omitempty"`
}

// SaveReview saves the review, its findings with their trails, one sighting of
// each, the rules that it checked, and a hit for every rejection that hid a
// finding in it, and what the review has to say on its pull request: all in one
// transaction. A finding without a fingerprint stays in the review alone. Then
// it sets the review's Sightings.
//
// The review's id makes the call repeatable: saving it again changes nothing,
// and adds no posts.
func (r *Repo) SaveReview(ctx context.Context, review *precedent.Review, posts ...Post) error {
	const op = "save review"
	if review.ID == "" {
		return r.db.fail(op, errors.New("it has no id"))
	}
	document, err := json.Marshal(review)
	if err != nil {
		return r.db.fail(op, err)
	}
	beside, err := json.Marshal(unindexedOf(review))
	if err != nil {
		return r.db.fail(op, err)
	}
	at := r.db.now()
	if !review.At.IsZero() {
		at = review.At
	}
	folded := Fold(review.Findings)
	var sightings map[string]int
	err = r.db.change(ctx, op, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `
			INSERT INTO reviews (id, repo_id, base, head, verdict, at, document, aside, pull)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
			review.ID, r.id, review.Base, review.Head, review.Verdict, millis(at), string(document), string(beside), pullOf(review))
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil {
			return err
		} else if n > 0 {
			if err := r.saveParts(ctx, tx, review, folded, millis(at)); err != nil {
				return err
			}
			if err := r.savePosts(ctx, tx, review.ID, posts); err != nil {
				return err
			}
		}
		sightings, err = r.countSightings(ctx, tx, folded)
		return err
	})
	if err != nil {
		return err
	}
	review.Sightings = sightings
	return nil
}

func (r *Repo) saveParts(ctx context.Context, tx *sql.Tx, review *precedent.Review, folded []*precedent.Finding, at int64) error {
	if err := r.saveFindings(ctx, tx, review.ID, folded, at); err != nil {
		return err
	}
	if err := r.saveDecisions(ctx, tx, review); err != nil {
		return err
	}
	if err := r.saveRules(ctx, tx, review); err != nil {
		return err
	}
	return r.saveHits(ctx, tx, folded, at)
}

// pullOf is the number of the review's pull request, 0 for none.
func pullOf(review *precedent.Review) int {
	if review.PullRequest == nil {
		return 0
	}
	return *review.PullRequest
}

func unindexedOf(review *precedent.Review) unindexed {
	a := unindexed{Host: review.Repo.Host, Owner: review.Repo.Owner, Name: review.Repo.Name, Target: review.Target}
	for _, f := range review.Findings {
		a.Findings = append(a.Findings, unindexedFinding{Analyzer: f.Analyzer, Place: f.Place, Inexact: f.Inexact, DroppedWhy: f.DroppedWhy})
	}
	return a
}

// Review returns the review with the id, whole but for its sightings, which
// have gone on since. It is an error that wraps ErrNoReview if there is none.
func (r *Repo) Review(ctx context.Context, id string) (*precedent.Review, error) {
	op := "read review " + id
	var at int64
	var document, beside string
	err := row(ctx, r.db.read, "SELECT at, document, aside FROM reviews WHERE repo_id = $1 AND id = $2",
		[]any{r.id, id}, into(&at, &document, &beside))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoReview
	}
	if err != nil {
		return nil, r.db.fail(op, err)
	}
	review, err := decode(document, beside)
	if err != nil {
		return nil, r.db.fail(op, err)
	}
	review.At = fromMillis(at)
	if review.RulesChecked, err = r.rulesOf(ctx, id); err != nil {
		return nil, r.db.fail(op, err)
	}
	if err := r.readDecisions(ctx, review); err != nil {
		return nil, r.db.fail(op, err)
	}
	return review, nil
}

// LastReview returns the review of the pull request that began last, whole but
// for its sightings, and whether there is one.
func (r *Repo) LastReview(ctx context.Context, pull int) (*precedent.Review, bool, error) {
	var id string
	err := row(ctx, r.db.read, "SELECT id FROM reviews WHERE repo_id = $1 AND pull = $2 ORDER BY at DESC, id DESC LIMIT 1",
		[]any{r.id, pull}, into(&id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, r.db.fail("find review", err)
	}
	review, err := r.Review(ctx, id)
	return review, err == nil, err
}

// Period returns when the oldest and the newest review began; zero times if
// there is none.
func (r *Repo) Period(ctx context.Context) (first, last time.Time, err error) {
	var n, from, to int64
	err = row(ctx, r.db.read, "SELECT COUNT(*), COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM reviews WHERE repo_id = $1",
		[]any{r.id}, into(&n, &from, &to))
	if err != nil || n == 0 {
		return time.Time{}, time.Time{}, r.db.fail("read reviews", err)
	}
	return fromMillis(from), fromMillis(to), nil
}

// decode puts a review together from its two halves.
func decode(document, beside string) (*precedent.Review, error) {
	type plain precedent.Review
	var review plain
	shadow := struct {
		*plain
		Repo json.RawMessage `json:"repo"` // its parts are aside
	}{plain: &review}
	if err := json.Unmarshal([]byte(document), &shadow); err != nil {
		return nil, err
	}
	var a unindexed
	if err := json.Unmarshal([]byte(beside), &a); err != nil {
		return nil, err
	}
	if len(a.Findings) != len(review.Findings) {
		return nil, fmt.Errorf("%w: %d findings and the asides of %d", ErrCorrupt, len(review.Findings), len(a.Findings))
	}
	review.Repo = precedent.Repo{Host: a.Host, Owner: a.Owner, Name: a.Name}
	review.Target = a.Target
	for i, f := range a.Findings {
		to := &review.Findings[i]
		to.Analyzer, to.Place, to.Inexact, to.DroppedWhy = f.Analyzer, f.Place, f.Inexact, f.DroppedWhy
	}
	return (*precedent.Review)(&review), nil
}
