package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/precedent-dev/precedent"
)

// ErrNoReview means that no review has the id.
var ErrNoReview = errors.New("no such review")

// reviewExtra holds the fields of a review that its JSON result leaves out.
type reviewExtra struct {
	// The parts of the repository's identity, which the result joins.
	Host, Owner, Name string

	Rules   []precedent.Rule   `json:",omitempty"`
	Reading *precedent.Reading `json:",omitempty"`
	Basis   *precedent.Basis   `json:",omitempty"`
	// Findings is as long as the review's findings.
	Findings []findingExtra
}

type findingExtra struct {
	Analyzer   bool   `json:",omitempty"`
	Place      string `json:",omitempty"`
	Inexact    bool   `json:",omitempty"`
	DroppedWhy string `json:",omitempty"`
	Refit      int    `json:",omitempty"`

	Basis *precedent.FindingBasis `json:",omitempty"`
}

// SaveReview saves, in one transaction, the review, its findings with their trails, a sighting
// of each, a hit for each dismissal that hid a finding, and its
// posts. A finding without a fingerprint is stored in the review only. Then it sets the
// review's Sightings.
//
// A review with posts is newer than those of the pull request that were saved before, also if a clock
// was wrong: if its time is not later, it gets one that is.
//
// Saving a review with the same id again changes nothing and adds no posts.
func (r *Repo) SaveReview(ctx context.Context, review *precedent.Review, posts ...Post) error {
	const op = "save review"
	if review.ID == "" {
		return r.db.fail(op, errors.New("it has no id"))
	}
	at := r.db.now()
	if !review.At.IsZero() {
		at = review.At
	}
	folded := Fold(review.Findings)
	var sightings map[string]int
	err := r.change(ctx, op, func(tx *sql.Tx) (err error) {
		if at, err = r.afterPosts(ctx, tx, at, posts); err != nil {
			return err
		}
		work := "" // the line of a local review
		if review.Reading != nil {
			work = review.Reading.Work
		}
		of := factsOf(review)
		if of.FirstMS, err = r.sinceSeen(ctx, tx, review, at); err != nil {
			return err
		}
		n, err := affected(tx.ExecContext(ctx, `
			INSERT INTO reviews (id, repo_id, base, head, verdict, at, document, extra, pull, work, facts)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (id) DO NOTHING`,
			review.ID, r.id, review.Base, review.Head, review.Verdict, millis(at), document{review}, document{extraOf(review)},
			pullOf(review), work, document{of}))
		if err != nil {
			return err
		}
		if n > 0 {
			if err := r.saveParts(ctx, tx, review, folded, millis(at)); err != nil {
				return err
			}
			if err := r.savePosts(ctx, tx, review.ID, at, posts); err != nil {
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

// afterPosts returns the time, or a later one if the pull request of the posts has reviews or posts
// that are as new.
func (r *Repo) afterPosts(ctx context.Context, tx *sql.Tx, at time.Time, posts []Post) (time.Time, error) {
	if len(posts) == 0 {
		return at, nil
	}
	var newest int64
	err := row(ctx, tx, `SELECT COALESCE(MAX(a.at), 0) FROM (SELECT at FROM reviews WHERE repo_id = $1 AND pull = $2
		UNION ALL SELECT at FROM posts WHERE repo_id = $1 AND pull = $2
			AND kind <> $3) a`, []any{r.id, posts[0].Pull, PostAnswer}, into(&newest))
	if err == nil && millis(at) <= newest {
		at = fromMillis(newest + 1)
	}
	return at, err
}

func (r *Repo) saveParts(ctx context.Context, tx *sql.Tx, review *precedent.Review, folded []*precedent.Finding,
	at int64,
) error {
	if err := execute(ctx, tx, "UPDATE repos SET reviewed_at = $1 WHERE id = $2 AND reviewed_at < $1", at,
		r.id); err != nil {
		return err
	}
	if err := r.saveFindings(ctx, tx, review.ID, folded, at); err != nil {
		return err
	}
	if err := r.saveDecisions(ctx, tx, review); err != nil {
		return err
	}
	if err := r.saveThreshold(ctx, tx, review, at); err != nil {
		return err
	}
	return r.saveHits(ctx, tx, folded, at)
}

// pullOf is the number of the review's pull request; 0 for none.
func pullOf(review *precedent.Review) int {
	if review.PullRequest == nil {
		return 0
	}
	return *review.PullRequest
}

func extraOf(review *precedent.Review) reviewExtra {
	e := reviewExtra{
		Host: review.Repo.Host, Owner: review.Repo.Owner, Name: review.Repo.Name, Reading: review.Reading,
		Basis: review.Basis, Rules: review.RulesChecked,
	}
	for _, f := range review.Findings {
		e.Findings = append(e.Findings, findingExtra{
			Analyzer: f.Analyzer, Place: f.Place, Inexact: f.Inexact,
			DroppedWhy: f.DroppedWhy, Refit: f.Refit, Basis: f.Basis,
		})
	}
	return e
}

// Review returns the review with the id, without its sightings, which may have changed. The
// error wraps ErrNoReview if there is none.
func (r *Repo) Review(ctx context.Context, id string) (*precedent.Review, error) {
	op := "read review " + id
	var at int64
	var document, extra string
	err := row(ctx, r.db.read, "SELECT at, document, extra FROM reviews WHERE repo_id = $1 AND id = $2",
		[]any{r.id, id}, into(&at, &document, &extra))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoReview
	}
	if err != nil {
		return nil, r.db.fail(op, err)
	}
	review, err := decode(document, extra)
	if err != nil {
		return nil, r.db.fail(op, err)
	}
	review.At = fromMillis(at)
	if err := r.readDecisions(ctx, review); err != nil {
		return nil, r.db.fail(op, err)
	}
	return review, nil
}

// LastReview returns the newest review of the pull request, without its sightings, and whether
// there is one.
func (r *Repo) LastReview(ctx context.Context, pull int) (*precedent.Review, bool, error) {
	var id string
	err := rows(ctx, r.db.read, "SELECT id FROM reviews WHERE repo_id = $1 AND pull = $2 ORDER BY at DESC, id DESC LIMIT 1",
		[]any{r.id, pull}, into(&id))
	if err != nil || id == "" {
		return nil, false, r.db.fail("find review", err)
	}
	review, err := r.Review(ctx, id)
	return review, err == nil, err
}

// ReviewsOf yields the reviews of a line of work, the newest first, at most limit.
func (r *Repo) ReviewsOf(ctx context.Context, work string, limit int) iter.Seq2[*precedent.Review, error] {
	return r.reviews(ctx, "SELECT id FROM reviews WHERE repo_id = $1 AND work = $2 ORDER BY at DESC, id DESC LIMIT $3",
		r.id, work, limit)
}

func (r *Repo) reviews(ctx context.Context, query string, args ...any) iter.Seq2[*precedent.Review, error] {
	return func(yield func(*precedent.Review, error) bool) {
		ids, err := collect(ctx, r.db.read, query, args, scanOne[string])
		if err != nil {
			yield(nil, r.db.fail("find review", err))
			return
		}
		for _, id := range ids {
			if !yield(r.Review(ctx, id)) {
				return
			}
		}
	}
}

// ReviewsOfPull yields the reviews of a pull request, the newest first, at most limit.
func (r *Repo) ReviewsOfPull(ctx context.Context, pull, limit int) iter.Seq2[*precedent.Review, error] {
	return r.reviews(ctx, "SELECT id FROM reviews WHERE repo_id = $1 AND pull = $2 ORDER BY at DESC, id DESC LIMIT $3",
		r.id, pull, limit)
}

// ReviewsOfHead yields the reviews of a commit as the head of pull requests, the newest first, at most limit.
func (r *Repo) ReviewsOfHead(ctx context.Context, head string, limit int) iter.Seq2[*precedent.Review, error] {
	return r.reviews(ctx, "SELECT id FROM reviews WHERE repo_id = $1 AND head = $2 AND pull > 0 ORDER BY at DESC, id DESC LIMIT $3",
		r.id, head, limit)
}

// ReviewsSince yields the reviews since a time, the newest first, at most limit.
func (r *Repo) ReviewsSince(ctx context.Context, since time.Time, limit int) iter.Seq2[*precedent.Review, error] {
	return r.reviews(ctx, "SELECT id FROM reviews WHERE repo_id = $1 AND at >= $2 ORDER BY at DESC, id DESC LIMIT $3",
		r.id, millis(since), limit)
}

// Period returns the start times of the oldest and the newest review; zero times if there is
// none.
func (r *Repo) Period(ctx context.Context) (first, last time.Time, err error) {
	var n, from, to int64
	err = row(ctx, r.db.read,
		"SELECT COUNT(*), COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM reviews WHERE repo_id = $1",
		[]any{r.id}, into(&n, &from, &to))
	if err != nil || n == 0 {
		return time.Time{}, time.Time{}, r.db.fail("read reviews", err)
	}
	return fromMillis(from), fromMillis(to), nil
}

func decode(document, extra string) (*precedent.Review, error) {
	type plain precedent.Review
	var review plain
	shadow := struct {
		*plain
		Repo json.RawMessage `json:"repo"` // its parts are in extra
	}{plain: &review}
	if err := json.Unmarshal([]byte(document), &shadow); err != nil {
		return nil, err
	}
	var e reviewExtra
	if err := json.Unmarshal([]byte(extra), &e); err != nil {
		return nil, err
	}
	if len(e.Findings) != len(review.Findings) {
		return nil, fmt.Errorf("%w: %d findings, but extra fields of %d", ErrCorrupt, len(review.Findings), len(e.Findings))
	}
	review.Repo = precedent.Repo{Host: e.Host, Owner: e.Owner, Name: e.Name}
	review.RulesChecked, review.Reading, review.Basis = e.Rules, e.Reading, e.Basis
	for i, f := range e.Findings {
		to := &review.Findings[i]
		to.Analyzer, to.Place, to.Inexact, to.DroppedWhy, to.Refit, to.Basis = f.Analyzer, f.Place, f.Inexact, f.DroppedWhy,
			f.Refit, f.Basis
	}
	return (*precedent.Review)(&review), nil
}
