package store

import (
	"context"
	"database/sql"

	"github.com/precedent-dev/precedent"
)

// Follow records that the repository with this identity by number is called by the first
// of the names now; the others lead to it, too. What is stored under any of them becomes
// that of the repository, unless it belongs to one with another number: then the name was
// given to a new repository, which begins with no memory.
func (db *DB) Follow(ctx context.Context, numbered precedent.Repo, names ...precedent.Repo) error {
	const op = "follow repository in memory"
	known, err := lookUp(ctx, db.read, append([]precedent.Repo{numbered}, names[0]))
	if err != nil {
		return db.fail(op, err)
	}
	if known.ids[0] != "" && known.ids[0] == known.ids[1] {
		if now, err := db.PresentName(ctx, names[0]); err != nil || now == names[0] {
			return err
		}
	}
	return db.change(ctx, op, func(tx *sql.Tx) error { return db.follow(ctx, tx, numbered, names) })
}

func (db *DB) follow(ctx context.Context, tx *sql.Tx, numbered precedent.Repo, names []precedent.Repo) error {
	known, err := lookUp(ctx, tx, append([]precedent.Repo{numbered}, names...))
	if err != nil {
		return err
	}
	id, called := known.ids[0], known.ids[1]
	taken, err := otherNumber(ctx, tx, called, numbered)
	if err != nil {
		return err
	}
	if taken {
		called = ""
	}
	for i, other := range known.ids[1:] {
		if id != "" || other == "" || names[i].IsLocal() {
			continue
		}
		if taken, err := otherNumber(ctx, tx, other, numbered); err != nil {
			return err
		} else if !taken {
			id = other
		}
	}
	if id == "" {
		if id, err = db.addRepo(ctx, tx); err != nil {
			return err
		}
	}
	if called != "" && called != id {
		if err := join(ctx, tx, id, called); err != nil {
			return err
		}
	}
	last := int64(0)
	if err := row(ctx, tx, "SELECT COALESCE(MAX(added_at), 0) FROM identities WHERE repo_id = $1", []any{id},
		into(&last)); err != nil {
		return err
	}
	for _, name := range []precedent.Repo{numbered, names[0]} {
		err := execute(ctx, tx, `
			INSERT INTO identities (host, owner, name, repo_id, added_at) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (host, owner, name) DO UPDATE SET repo_id = excluded.repo_id, added_at = excluded.added_at`,
			name.Host, name.Owner, name.Name, id, max(millis(db.now()), last+1))
		if err != nil {
			return err
		}
	}
	return rename(ctx, tx, id, names[0])
}

// PresentName returns what the repository with this name, in any case, is called now: the name that it got last. One
// that is not known keeps its name.
func (db *DB) PresentName(ctx context.Context, name precedent.Repo) (precedent.Repo, error) {
	now := name
	err := rows(ctx, db.read, `
		SELECT n.host, n.owner, n.name FROM identities i
		JOIN identities n ON n.repo_id = i.repo_id AND n.owner <> $4 AND n.host <> $5
		WHERE i.host = $1 AND LOWER(i.owner) = LOWER($2) AND LOWER(i.name) = LOWER($3) ORDER BY n.added_at DESC, n.host, n.owner, n.name LIMIT 1`,
		[]any{name.Host, name.Owner, name.Name, precedent.NumberedRepo("", "").Owner, precedent.LocalRepo("").Host},
		func(s scanner) error { return scanName(s, &now) })
	return now, db.fail("read names", err)
}

// otherNumber tells whether the rows belong to a repository of the same forge with another
// number.
func otherNumber(ctx context.Context, tx *sql.Tx, id string, numbered precedent.Repo) (bool, error) {
	var n int
	err := row(ctx, tx, "SELECT COUNT(*) FROM identities WHERE repo_id = $1 AND host = $2 AND owner = $3 AND name <> $4",
		[]any{id, numbered.Host, numbered.Owner, numbered.Name}, into(&n))
	return n > 0, err
}

func (db *DB) addRepo(ctx context.Context, tx *sql.Tx) (string, error) {
	id := newID()
	err := execute(ctx, tx, "INSERT INTO repos (id, created_at) VALUES ($1, $2)", id, millis(db.now()))
	return id, err
}
