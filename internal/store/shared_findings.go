package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/precedent-dev/precedent"
)

// SharedFinding is what clones tell each other of a finding that reviews showed.
type SharedFinding struct {
	Fingerprint string             `json:"fingerprint"`
	Path        string             `json:"path"`
	Category    precedent.Category `json:"category"`
	Severity    precedent.Severity `json:"severity"`
	Seen        int                `json:"seen"` // how many reviews of one clone showed it
	First       time.Time          `json:"first"`
	Last        time.Time          `json:"last"`
}

// What is shared of the findings of a repository: the last shown, so that the history of files fades and a ref stays
// small. 20,000 take some 5 MB.
const (
	MaxSharedFindings  = 20_000
	SharedFindingsLife = 180 * 24 * time.Hour
)

const sharedFindingColumns = "fingerprint, path, category, severity, seen, first_seen, last_seen"

// ofOthers is a condition for the rows of shared_findings that reviews of this database did not show.
const ofOthers = ` AND NOT EXISTS (SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.fingerprint = o.fingerprint AND f.seen > 0)`

// sharedFindings returns what is shared, the last shown first: the findings of this database, and those of others.
func (r *Repo) sharedFindings(ctx context.Context, q querier) ([]SharedFinding, error) {
	return collect(ctx, q, `SELECT `+sharedFindingColumns+` FROM (
			SELECT `+sharedFindingColumns+` FROM findings WHERE repo_id = $1 AND seen > 0
			UNION ALL SELECT `+sharedFindingColumns+` FROM shared_findings o WHERE o.repo_id = $1`+ofOthers+`) found
		WHERE last_seen > $2 ORDER BY last_seen DESC, fingerprint LIMIT $3`,
		[]any{r.id, millis(r.db.now().Add(-SharedFindingsLife)), MaxSharedFindings}, func(s scanner, f *SharedFinding) error {
			return s.Scan(&f.Fingerprint, &f.Path, &f.Category, &f.Severity, &f.Seen, (*moment)(&f.First), (*moment)(&f.Last))
		})
}

// ShownElsewhere returns the findings that only other clones showed in the files. It sets
// fingerprint, path, category, severity, count and times.
func (r *Repo) ShownElsewhere(ctx context.Context, paths []string) ([]Known, error) {
	all, err := collectIn(ctx, r.db.read, `SELECT `+sharedFindingColumns+` FROM shared_findings o
		WHERE o.repo_id = $1 AND o.last_seen > $2 AND o.path IN (%s)`+ofOthers,
		[]any{r.id, millis(r.db.now().Add(-SharedFindingsLife))}, paths, func(s scanner, k *Known) error {
			return s.Scan(&k.Fingerprint, &k.Path, &k.Category, &k.Severity, &k.Seen, (*moment)(&k.First), (*moment)(&k.Last))
		})
	return all, r.db.fail("read what other clones found", err)
}

func (r *Repo) mergeFindings(ctx context.Context, tx *sql.Tx, s Shared) error {
	var findings [][]any
	for _, f := range s.Findings {
		findings = append(findings, []any{
			r.id, f.Fingerprint, f.Path, f.Category, f.Severity, f.Seen, millis(f.First), millis(f.Last),
		})
	}
	err := putRows(ctx, tx, "shared_findings", "repo_id, fingerprint", "path, category, severity, seen, first_seen, last_seen",
		findings...)
	if err != nil {
		return err
	}
	return execute(ctx, tx, "DELETE FROM shared_findings WHERE repo_id = $1 AND last_seen <= $2", r.id,
		millis(r.db.now().Add(-SharedFindingsLife)))
}
