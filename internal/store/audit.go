package store

import (
	"context"
	"time"
)

// AuditRow is a change that a person made on a page.
type AuditRow struct {
	ID      string    `json:"id"` // UUIDv7
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Action  string    `json:"action"`
	Subject string    `json:"subject"` // what was changed, with its id
	Before  string    `json:"before"`
	After   string    `json:"after"` // empty if the process ended before the change did
}

// Server has the rows about the server itself, of which there are only those of the audit log.
func (db *DB) Server() *Repo { return &Repo{db: db} }

// AddAudit adds a row before its change is made. end saves what the change led to.
func (r *Repo) AddAudit(ctx context.Context, a AuditRow) (end func(ctx context.Context, after string) error,
	err error,
) {
	const op = "save what was changed"
	id := newID()
	end = func(ctx context.Context, after string) error {
		return r.db.exec(ctx, op, "UPDATE audit SET after = $1 WHERE repo_id = $2 AND id = $3", after, r.id, id)
	}
	return end, r.db.exec(ctx, op, `INSERT INTO audit (repo_id, id, at, who, action, subject, before, after)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '')`, r.id, id, millis(a.At), a.Who, a.Action, a.Subject, a.Before)
}

// Audit returns the last changes, the newest first.
func (r *Repo) Audit(ctx context.Context, limit int) ([]AuditRow, error) {
	all, err := collect(ctx, r.db.read, `SELECT id, at, who, action, subject, before, after FROM audit
		WHERE repo_id = $1 ORDER BY id DESC LIMIT $2`, []any{r.id, limit}, func(s scanner, a *AuditRow) error {
		return s.Scan(&a.ID, (*moment)(&a.At), &a.Who, &a.Action, &a.Subject, &a.Before, &a.After)
	})
	return all, r.db.fail("read what was changed", err)
}
