package store

import (
	"context"
	"database/sql"
	"time"
)

// SessionKind says what the holder of a session's secret may do with it.
type SessionKind string

// The kinds of sessions.
const (
	BrowserSession SessionKind = "browser" // of a person who signed in
	AgentSession   SessionKind = "agent"   // of an agent that a person let in
	CodeSession    SessionKind = "code"    // a code that an agent exchanges for its own session, once
)

// Session is what the holder of a secret is let in as. The secret itself is not stored.
type Session struct {
	Hash          string // of the secret
	Kind          SessionKind
	Person, Login string // the id of the account on the forge, and its name
	Detail        string // what the kind needs besides
	At, Until     time.Time
}

// SaveSession saves a new session, and deletes those that have ended.
func (db *DB) SaveSession(ctx context.Context, s Session) error {
	return db.Transact(ctx, "save session", func(tx *sql.Tx) error {
		if err := execute(ctx, tx, "DELETE FROM sessions WHERE until <= $1", millis(s.At)); err != nil {
			return err
		}
		return execute(ctx, tx, `
			INSERT INTO sessions (hash, kind, person, login, detail, at, until) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			s.Hash, s.Kind, s.Person, s.Login, s.Detail, millis(s.At), millis(s.Until))
	})
}

// Session returns the session of a kind with the hash, and whether there is one that has not ended.
func (db *DB) Session(ctx context.Context, kind SessionKind, hash string, now time.Time) (Session, bool, error) {
	found, err := db.sessions(ctx, kind, "hash = $3", now, hash)
	if err != nil || len(found) == 0 {
		return Session{}, false, err
	}
	return found[0], true, nil
}

// SessionsOf returns the sessions of a kind that let somebody in as a person, the newest first.
func (db *DB) SessionsOf(ctx context.Context, kind SessionKind, person string, now time.Time) ([]Session, error) {
	return db.sessions(ctx, kind, "person = $3", now, person)
}

func (db *DB) sessions(ctx context.Context, kind SessionKind, condition string, now time.Time, value string) ([]Session,
	error,
) {
	all, err := collect(ctx, db.read,
		"SELECT hash, person, login, detail, at, until FROM sessions WHERE kind = $1 AND until > $2 AND "+
			condition+" ORDER BY at DESC, hash", []any{kind, millis(now), value}, func(r scanner, s *Session) error {
			s.Kind = kind
			return r.Scan(&s.Hash, &s.Person, &s.Login, &s.Detail, (*moment)(&s.At), (*moment)(&s.Until))
		})
	return all, db.fail("read sessions", err)
}

// EndSession deletes a session, and tells whether there was one: of several callers, one is told so.
func (db *DB) EndSession(ctx context.Context, kind SessionKind, hash string) (ended bool, err error) {
	err = db.Transact(ctx, "end session", func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, "DELETE FROM sessions WHERE hash = $1 AND kind = $2", hash, kind))
		ended = n > 0
		return err
	})
	return ended, err
}
