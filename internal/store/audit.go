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

// AddAudit adds a row about a repository before its change is made. end saves what the change led to.
func (r *Repo) AddAudit(ctx context.Context, a AuditRow) (end func(ctx context.Context, after string) error,
	err error,
) {
	return r.db.addAudit(ctx, r.id, a)
}

// AddServerAudit adds a row about the server itself.
func (db *DB) AddServerAudit(ctx context.Context, a AuditRow) (end func(ctx context.Context, after string) error,
	err error,
) {
	return db.addAudit(ctx, "", a)
}

func (db *DB) addAudit(ctx context.Context, repo string, a AuditRow) (func(context.Context, string) error, error) {
	const op = "save what was changed"
	id := newID()
	end := func(ctx context.Context, after string) error {
		return db.exec(ctx, op, "UPDATE audit SET after = $1 WHERE repo_id = $2 AND id = $3", after, repo, id)
	}
	return end, db.exec(ctx, op, `INSERT INTO audit (id, repo_id, at, who, action, subject, before, after)
		VALUES ($1, $2, $3, $4, $5, $6, $7, '')`, id, repo, millis(a.At), a.Who, a.Action, a.Subject, a.Before)
}

// Audit returns the last changes of the repository, the newest first.
func (r *Repo) Audit(ctx context.Context, limit int) ([]AuditRow, error) {
	return r.db.audit(ctx, r.id, limit)
}

// ServerAudit returns the last changes of the server itself, the newest first.
func (db *DB) ServerAudit(ctx context.Context, limit int) ([]AuditRow, error) {
	return db.audit(ctx, "", limit)
}

func (db *DB) audit(ctx context.Context, repo string, limit int) ([]AuditRow, error) {
	all, err := collect(ctx, db.read, `SELECT id, at, who, action, subject, before, after FROM audit
		WHERE repo_id = $1 ORDER BY id DESC LIMIT $2`, []any{repo, limit}, func(s scanner, a *AuditRow) error {
		return s.Scan(&a.ID, (*moment)(&a.At), &a.Who, &a.Action, &a.Subject, &a.Before, &a.After)
	})
	return all, db.fail("read what was changed", err)
}
