package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/precedent-dev/precedent"
)

// Change identifies a change by its base and head. The zero Change means none.
type Change struct{ Base, Head string }

// Shown returns the findings that reviews of other changes showed in the files, newest first,
// each once. Counts, times and everything that differs between
// sightings come from those reviews only, so that a second review of the same change has the
// same history. It sets id, fingerprint, path, category, severity, confidence, title, counts
// and times.
func (r *Repo) Shown(ctx context.Context, paths []string, except Change) ([]Known, error) {
	// Go selects the newest sighting of each finding: in SQL, SQLite would sort all sightings of
	// the repository instead of reading those of the files.
	const sightings = `
		SELECT s.fingerprint, f.id, s.path, s.category, s.severity, s.confidence, s.title, v.at, v.id
		FROM sightings s
		JOIN reviews v ON v.repo_id = $1 AND v.id = s.review_id
		JOIN findings f ON f.repo_id = $1 AND f.fingerprint = s.fingerprint
		WHERE s.repo_id = $1 AND s.shown = 1 AND NOT (v.base = $2 AND v.head = $3) AND s.path IN (%s)`
	newest := map[string]Known{}
	err := rowsIn(ctx, r.db.read, sightings, []any{r.id, except.Base, except.Head}, paths,
		func(s scanner) error { return addSighting(newest, s) })
	shown := slices.SortedFunc(maps.Values(newest), func(a, b Known) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
	return shown, r.db.fail("read history", err)
}

// HotPaths returns the n files with the most findings that reviews of any clone showed; of files with as many, those with
// the worst finding first. The database counts: a memory may have a million findings.
func (r *Repo) HotPaths(ctx context.Context, n int) ([]string, error) {
	worst := "MIN(CASE severity"
	for _, s := range precedent.Severities {
		worst += fmt.Sprintf(" WHEN '%s' THEN %d", s, s.Rank())
	}
	paths, err := collect(ctx, r.db.read, `SELECT path FROM (
			SELECT path, severity FROM findings WHERE repo_id = $1 AND seen > 0
			UNION ALL SELECT path, severity FROM shared_findings o WHERE o.repo_id = $1 AND o.last_seen > $2`+ofOthers+`) found
		GROUP BY path ORDER BY COUNT(*) DESC, `+worst+` END), path LIMIT $3`,
		[]any{r.id, millis(r.db.now().Add(-SharedFindingsLife)), n},
		func(s scanner, path *string) error { return s.Scan(path) })
	return paths, r.db.fail("count findings by file", err)
}

func addSighting(newest map[string]Known, s scanner) error {
	var f precedent.Finding
	var ms int64
	var review string
	err := s.Scan(&f.Fingerprint, &f.ID, &f.Path, &f.Category, &f.Severity, &f.Confidence, &f.Title, &ms, &review)
	if err != nil {
		return err
	}
	at := fromMillis(ms)
	k, seen := newest[f.Fingerprint]
	if !seen {
		k.First = at
	}
	if at.Before(k.First) {
		k.First = at
	}
	if cmp.Or(at.Compare(k.Last), cmp.Compare(review, k.LastReview)) > 0 {
		k.Finding, k.Last, k.LastReview = f, at, review
	}
	k.Seen++
	newest[f.Fingerprint] = k
	return nil
}
