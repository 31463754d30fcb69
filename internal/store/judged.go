package store

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
)

// JudgedFinding is a finding that a review showed, and what became of it.
type JudgedFinding struct {
	Known
	// Accepted tells that people fixed it or agreed with it, and Declined that a person with
	// write permission dismissed it, on any pull request.
	Accepted, Declined bool
}

// Judged returns the findings that a review showed, that were last seen at the time or later,
// and that are of high or critical severity or that people accepted: the newest first, at most
// limit.
func (r *Repo) Judged(ctx context.Context, since time.Time, limit int) ([]JudgedFinding, error) {
	found, err := collect(ctx, r.db.read, `
		SELECT `+knownColumns+`, accepted, declined FROM (
			SELECT `+knownColumns+`,
				(SELECT COUNT(*) FROM outcomes o WHERE o.repo_id = $1 AND o.fingerprint = f.fingerprint
					AND o.outcome IN ($2, $3, $4)) AS accepted,
				(SELECT COUNT(*) FROM rejections j WHERE j.repo_id = $1 AND j.fingerprint = f.fingerprint) AS declined
			FROM findings f WHERE f.repo_id = $1 AND f.seen > 0 AND f.last_seen >= $5
		) AS judged WHERE accepted > 0 OR severity IN ($6, $7)
		ORDER BY last_seen DESC, fingerprint LIMIT $8`,
		[]any{
			r.id, precedent.Fixed, precedent.SuggestionTaken, precedent.Accepted, millis(since), precedent.High,
			precedent.Critical, limit,
		},
		func(s scanner, j *JudgedFinding) error {
			var accepted, declined int
			err := scanKnown(scanMore{s, []any{&accepted, &declined}}, &j.Known)
			j.Accepted, j.Declined = accepted > 0, declined > 0
			return err
		})
	return found, r.db.fail("read judged findings", err)
}

type scanMore struct {
	scanner
	more []any
}

func (s scanMore) Scan(into ...any) error { return s.scanner.Scan(append(into, s.more...)...) }
