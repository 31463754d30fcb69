package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
)

// Known is a finding that earlier reviews saved.
type Known struct {
	// Finding is the state when it was last seen, without suggestion, evidence, cites and trail,
	// which are stored with the review.
	precedent.Finding
	// Seen counts the reviews that showed it.
	Seen        int
	First, Last time.Time // times of the reviews that had it, shown or hidden
	LastReview  string    // id of the last review that had it
}

// Fold selects one finding of a review for each fingerprint: a live one before a dropped one,
// any before a duplicate, an earlier before a later one. A review can have several with one
// fingerprint, because it keeps duplicates. Findings without a fingerprint are left out.
func Fold(findings []precedent.Finding) []*precedent.Finding {
	var folded []*precedent.Finding
	at := map[string]int{}
	for i := range findings {
		f := &findings[i]
		if f.Fingerprint == "" {
			continue
		}
		j, seen := at[f.Fingerprint]
		switch {
		case !seen:
			at[f.Fingerprint] = len(folded)
			folded = append(folded, f)
		case placementRank(f) < placementRank(folded[j]):
			folded[j] = f
		}
	}
	return folded
}

func placementRank(f *precedent.Finding) int {
	switch f.Dropped {
	case "":
		return 0
	case precedent.Duplicate:
		return 2
	}
	return 1
}

const (
	insertFindings = `INSERT INTO findings (repo_id, fingerprint, id, place, finder, rule, category, severity,
		confidence, path, side,
		start_line, end_line, symbol, quote, title, body, seen, first_seen, last_seen, last_review)`
	mergeFindings = `ON CONFLICT (repo_id, fingerprint) DO UPDATE SET
		id = excluded.id, place = excluded.place, finder = excluded.finder, rule = excluded.rule,
			category = excluded.category,
		severity = excluded.severity, confidence = excluded.confidence, path = excluded.path, side = excluded.side,
		start_line = excluded.start_line, end_line = excluded.end_line, symbol = excluded.symbol, quote = excluded.quote,
		title = excluded.title, body = excluded.body, seen = findings.seen + excluded.seen,
		first_seen = CASE WHEN excluded.first_seen < findings.first_seen THEN excluded.first_seen
			ELSE findings.first_seen END,
		last_seen = CASE WHEN excluded.last_seen > findings.last_seen THEN excluded.last_seen ELSE findings.last_seen END,
		last_review = excluded.last_review`
	insertSightings = `INSERT INTO sightings (review_id, repo_id, fingerprint, path, category, severity, confidence,
		title, dropped, dropped_by, shown)`
)

// saveFindings adds a sighting of each finding, and the finding if it is new.
func (r *Repo) saveFindings(ctx context.Context, tx *sql.Tx, review string, folded []*precedent.Finding,
	at int64,
) error {
	var findings, names, sightings [][]any
	for _, f := range folded {
		shown := zeroOne(f.Live())
		findings = append(findings, []any{
			r.id, f.Fingerprint, f.ID, f.Place, f.Finder, f.Rule, f.Category, f.Severity,
			f.Confidence, f.Path, f.Side, f.Start, f.End, f.Symbol, f.Quote, f.Title, f.Body, shown, at, at, review,
		})
		names = append(names, []any{r.id, f.ID, f.Fingerprint})
		sightings = append(sightings, []any{
			review, r.id, f.Fingerprint, f.Path, f.Category, f.Severity, f.Confidence,
			f.Title, f.Dropped, f.DroppedBy, shown,
		})
	}
	if err := insertRows(ctx, tx, insertFindings, mergeFindings, findings); err != nil {
		return err
	}
	if err := insertRows(ctx, tx, "INSERT INTO finding_ids (repo_id, id, fingerprint)",
		"ON CONFLICT (repo_id, id, fingerprint) DO NOTHING", names); err != nil {
		return err
	}
	return insertRows(ctx, tx, insertSightings, "", sightings)
}

// countSightings returns, by id, how many reviews showed each live finding.
func (r *Repo) countSightings(ctx context.Context, tx *sql.Tx, folded []*precedent.Finding) (map[string]int, error) {
	var fingerprints []string
	ids := map[string]string{}
	for _, f := range folded {
		if f.Live() {
			fingerprints = append(fingerprints, f.Fingerprint)
			ids[f.Fingerprint] = f.ID
		}
	}
	counts := map[string]int{}
	err := rowsIn(ctx, tx, "SELECT fingerprint, seen FROM findings WHERE repo_id = $1 AND fingerprint IN (%s)",
		[]any{r.id}, fingerprints, func(s scanner) error {
			var fingerprint string
			var seen int
			err := s.Scan(&fingerprint, &seen)
			counts[ids[fingerprint]] = seen
			return err
		})
	return counts, err
}

const knownColumns = `fingerprint, id, place, finder, rule, category, severity, confidence, path, side,
	start_line, end_line, symbol, quote, title, body, seen, first_seen, last_seen, last_review`

func scanKnown(s scanner, k *Known) error {
	return s.Scan(&k.Fingerprint, &k.ID, &k.Place, &k.Finder, &k.Rule, &k.Category, &k.Severity, &k.Confidence, &k.Path,
		&k.Side,
		&k.Start, &k.End, &k.Symbol, &k.Quote, &k.Title, &k.Body, &k.Seen, (*moment)(&k.First), (*moment)(&k.Last),
		&k.LastReview)
}

// knownPerFile limits what is read of one file: as many as pruning keeps.
const knownPerFile = 50

// Known returns the findings that were last seen in the files, by fingerprint: the 50 newest
// of each file, and at most limit in all.
func (r *Repo) Known(ctx context.Context, paths []string, limit int) (map[string]Known, error) {
	known := map[string]Known{}
	err := inBatches(paths, 4, func(numbers string, args []any) error {
		if len(known) >= limit {
			return nil
		}
		return rows(ctx, r.db.read, `
			SELECT `+knownColumns+` FROM (
				SELECT `+knownColumns+`, ROW_NUMBER() OVER (PARTITION BY path ORDER BY last_seen DESC, fingerprint) AS nth
				FROM findings WHERE repo_id = $1 AND path IN (`+numbers+`)
			) AS newest WHERE nth <= $2 ORDER BY last_seen DESC, fingerprint LIMIT $3`,
			append([]any{r.id, knownPerFile, limit - len(known)}, args...), func(s scanner) error {
				var k Known
				err := scanKnown(s, &k)
				known[k.Fingerprint] = k
				return err
			})
	})
	return known, r.db.fail("read findings", err)
}

// LatestFindings returns a part of the findings, those seen last first: those of a file, or of the files below a
// folder, or all if path is empty.
func (r *Repo) LatestFindings(ctx context.Context, path string, p Page) ([]Known, error) {
	found, err := collect(ctx, r.db.read, `SELECT `+knownColumns+` FROM findings
		WHERE repo_id = $1 AND ($2 = '' OR path = $2 OR SUBSTR(path, 1, LENGTH($3)) = $3)
		ORDER BY last_seen DESC, fingerprint LIMIT $4 OFFSET $5`,
		[]any{r.id, path, strings.TrimSuffix(path, "/") + "/", p.Limit, p.Offset}, scanKnown)
	return found, r.db.fail("read findings", err)
}

// lastRune sorts after all characters of ids: the ids with a prefix are those from the prefix to before the prefix with
// lastRune, which an index finds.
const lastRune = "\U0010FFFF"

// FindingsByID returns the findings that have, or once had, an id that starts with the prefix,
// ordered by id, at most limit.
func (r *Repo) FindingsByID(ctx context.Context, prefix string, limit int) ([]Known, error) {
	found, err := collect(ctx, r.db.read, `
		SELECT `+knownColumns+` FROM findings WHERE repo_id = $1 AND fingerprint IN (
			SELECT fingerprint FROM finding_ids WHERE repo_id = $1 AND id >= $2 AND id < $3
		) ORDER BY id, fingerprint LIMIT $4`,
		[]any{r.id, prefix, prefix + lastRune, limit}, scanKnown)
	return found, r.db.fail("find finding", err)
}
