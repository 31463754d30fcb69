package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// DismissalLife is how long a dismissal is valid after it was made or last hid a finding: 180
// days.
const DismissalLife = 180 * 24 * time.Hour

const dismissalColumns = `id, finding, fingerprint, place, claim, path, symbol, category, severity, reason, who, at,
	expires_at, hits, rule, glob, source`

func scanDismissal(s scanner, j *precedent.Dismissal) error {
	return s.Scan(&j.ID, &j.Finding, &j.Fingerprint, &j.Place, &j.Claim, &j.Path, &j.Symbol, &j.Category, &j.Severity,
		&j.Reason, &j.Who, (*moment)(&j.At), (*moment)(&j.ExpiresAt), &j.Hits, &j.Rule, &j.Glob, &j.Source)
}

// putDismissal saves a dismissal, given by dismissalValues, in place of the one with its fingerprint. The rest of the
// statement sets id, hits and retired.
const putDismissal = `
	INSERT INTO rejections (repo_id, id, finding, fingerprint, place, claim, path, symbol, category, severity, reason,
		who, at, expires_at, hits, rule, glob, source)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, 0, $15, $16, $17)
	ON CONFLICT (repo_id, fingerprint) DO UPDATE SET finding = excluded.finding, place = excluded.place,
		claim = excluded.claim, path = excluded.path, symbol = excluded.symbol, category = excluded.category,
		severity = excluded.severity, reason = excluded.reason, who = excluded.who, at = excluded.at,
		expires_at = excluded.expires_at, rule = excluded.rule, glob = excluded.glob, source = excluded.source`

func (r *Repo) dismissalValues(j precedent.Dismissal, until time.Time) []any {
	return []any{
		r.id, newID(), j.Finding, j.Fingerprint, j.Place, j.Claim, j.Path, j.Symbol, j.Category, j.Severity,
		j.Reason, j.Who, millis(j.At), millis(until), j.Rule, j.Glob, j.Source,
	}
}

// Reject saves a dismissal made at j.At and returns it with its id and expiry, and true. If
// the fingerprint already has a valid dismissal, Reject returns that one unchanged, and false.
// If an earlier one was taken back at a later time, the dismissal is from right after that.
func (r *Repo) Reject(ctx context.Context, j precedent.Dismissal) (precedent.Dismissal, bool, error) {
	var saved precedent.Dismissal
	var added bool
	err := r.change(ctx, "save dismissal", func(tx *sql.Tx) error {
		var taken int64
		if err := row(ctx, tx, "SELECT COALESCE(MAX(at), 0) FROM forgotten WHERE repo_id = $1 AND kind = $2 AND id = $3",
			[]any{r.id, forgottenDismissal, j.Fingerprint}, into(&taken)); err != nil {
			return err
		}
		if millis(j.At) <= taken { // another machine's clock is ahead
			j.At = fromMillis(taken + 1)
		}
		scan := func(s scanner) error { return scanDismissal(s, &saved) }
		err := row(ctx, tx, putDismissal+`, id = excluded.id, hits = 0, retired = ''
				WHERE rejections.expires_at <= excluded.at RETURNING `+dismissalColumns,
			r.dismissalValues(j, j.At.Add(DismissalLife)), scan)
		if added = err == nil; added || !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return row(ctx, tx, "SELECT "+dismissalColumns+" FROM rejections WHERE repo_id = $1 AND fingerprint = $2",
			[]any{r.id, j.Fingerprint}, scan)
	})
	return saved, added && err == nil, err
}

// Dismissals returns the dismissals that are valid at now, newest first, at most limit.
func (r *Repo) Dismissals(ctx context.Context, now time.Time, limit int) ([]precedent.Dismissal, error) {
	return r.dismissals(ctx, r.db.read, `expires_at > $2 ORDER BY at DESC, id DESC LIMIT $3`, millis(now), limit)
}

// DismissalsByID returns the dismissals that are valid at now and whose id, or an id of whose
// finding, starts with the prefix, at most limit.
func (r *Repo) DismissalsByID(ctx context.Context, prefix string, now time.Time, limit int) ([]precedent.Dismissal,
	error,
) {
	return r.dismissals(ctx, r.db.read, `expires_at > $2 AND (
		SUBSTR(id, 1, LENGTH($3)) = $3 OR SUBSTR(finding, 1, LENGTH($3)) = $3 OR fingerprint IN (
			SELECT fingerprint FROM finding_ids WHERE repo_id = $1 AND id >= $3 AND id < $4
		)) ORDER BY at DESC, id DESC LIMIT $5`, millis(now), prefix, prefix+lastRune, limit)
}

func (r *Repo) dismissals(ctx context.Context, q querier, condition string, args ...any) ([]precedent.Dismissal,
	error,
) {
	found, err := collect(ctx, q, "SELECT "+dismissalColumns+" FROM rejections WHERE repo_id = $1 AND "+condition,
		append([]any{r.id}, args...), scanDismissal)
	return found, r.db.fail("read dismissals", err)
}

// Dismissal returns the dismissal of the fingerprint that is valid at now, or nil.
func (r *Repo) Dismissal(ctx context.Context, fingerprint string, now time.Time) (*precedent.Dismissal, error) {
	found, err := r.dismissals(ctx, r.db.read, "expires_at > $2 AND fingerprint = $3", millis(now), fingerprint)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// Unreject deletes the dismissal with the id and tells whether there was one. It stays deleted
// when memories are merged.
func (r *Repo) Unreject(ctx context.Context, id string) (bool, error) {
	var found []precedent.Dismissal
	err := r.change(ctx, "remove dismissal", func(tx *sql.Tx) (err error) {
		if found, err = r.dismissals(ctx, tx, "id = $2", id); err != nil || len(found) == 0 {
			return err
		}
		at := r.db.now()
		if made := found[0].At; made.After(at) {
			at = made
		}
		return r.forget(ctx, tx, Forgotten{found[0].Fingerprint, at})
	})
	return len(found) > 0 && err == nil, err
}

// Retire ends a dismissal that holds at a time, keeps why, and tells whether there was one. The
// row stays until it is pruned or merged, as its history, and a merge does not bring it back.
func (r *Repo) Retire(ctx context.Context, id, why string, at time.Time) (bool, error) {
	var n int64
	err := r.change(ctx, "retire dismissal", func(tx *sql.Tx) error {
		var err error
		if n, err = affected(tx.ExecContext(ctx,
			"UPDATE rejections SET expires_at = $3, retired = $4 WHERE repo_id = $1 AND id = $2 AND expires_at > $3",
			r.id, id, millis(at), why)); err != nil || n == 0 {
			return err
		}
		return execute(ctx, tx, `
			INSERT INTO forgotten (repo_id, kind, id, at)
			SELECT j.repo_id, $3, j.fingerprint, CASE WHEN j.at > $4 THEN j.at ELSE $4 END
			FROM rejections j WHERE j.repo_id = $1 AND j.id = $2
			ON CONFLICT (repo_id, kind, id) DO UPDATE SET at = excluded.at`, r.id, id, forgottenDismissal, millis(at))
	})
	return n > 0, err
}

// Retired returns why a dismissal of the fingerprint was ended; empty if it was not.
func (r *Repo) Retired(ctx context.Context, fingerprint string) (why string, err error) {
	err = rows(ctx, r.db.read, "SELECT retired FROM rejections WHERE repo_id = $1 AND fingerprint = $2",
		[]any{r.id, fingerprint}, into(&why))
	return why, r.db.fail("read dismissals", err)
}

// saveHits counts a hit for each dismissal and finding of a review that it hid, alone or with others, and extends
// the dismissal. One of exactly a finding that is somewhere else now follows it, and back, so that it also holds where the
// findings of earlier reviews are not known.
func (r *Repo) saveHits(ctx context.Context, tx *sql.Tx, folded []*precedent.Finding, at int64) error {
	for _, f := range folded {
		by := []string{f.DroppedBy}
		switch {
		case f.Dropped == precedent.Rejected && f.Basis != nil:
			by = append(by, f.Basis.Patterns...)
		case f.Dropped != precedent.Dismissed && f.Dropped != precedent.Rejected:
			continue
		}
		slices.Sort(by)
		for _, id := range slices.Compact(by) {
			err := execute(ctx, tx, `
				UPDATE rejections SET hits = hits + 1,
					expires_at = CASE WHEN expires_at < $3 THEN $3 ELSE expires_at END
				WHERE repo_id = $1 AND id = $2 AND retired = ''`, r.id, id, at+DismissalLife.Milliseconds())
			if err != nil {
				return err
			}
		}
		if f.Dropped != precedent.Dismissed || f.Place == "" {
			continue
		}
		err := execute(ctx, tx, `UPDATE rejections SET path = $4, place = $5, symbol = $6
			WHERE repo_id = $1 AND id = $2 AND fingerprint = $3 AND place <> $5`, r.id, f.DroppedBy, f.Fingerprint, f.Path, f.Place, f.Symbol)
		if err != nil {
			return err
		}
	}
	return nil
}

const maxFinderRules = 1_000

// FinderRules returns the finders of the stored findings and their rules, sorted. The rule is empty for a finding that
// names none, and for those of the finders without, of which there is at least one.
func (r *Repo) FinderRules(ctx context.Context, without []string) (found []precedent.Finding, err error) {
	found, err = collectIn(ctx, r.db.read, `
		SELECT DISTINCT finder, CASE WHEN finder IN (%s) THEN '' ELSE rule END FROM findings
		WHERE repo_id = $1 ORDER BY 1, 2 LIMIT $2`, []any{r.id, maxFinderRules}, without,
		func(s scanner, f *precedent.Finding) error { return s.Scan(&f.Finder, &f.Rule) })
	return found, r.db.fail("read rules of findings", err)
}
