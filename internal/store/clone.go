package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/precedent-dev/precedent"
)

// Kept is what KeepIdentity found.
type Kept struct {
	// Joined tells that the current name is new, and names the same rows now as the others.
	Joined bool
	// Other are the names of rows that the current name does not reach, and that may be the clone's: those with its
	// first commit, or, if it has no rows yet, all that there are.
	Other []precedent.Repo
}

// KeepIdentity makes sure that a database which only one clone uses keeps its rows when the clone's
// remotes are added, renamed or changed. Current is what the clone is called now, root the identity
// by its first commit, or the zero Repo if that is unknown.
//
// A new name joins the rows that were saved with the same first commit, or, if none were saved with
// one, the only rows that there are. Rows with another first commit are those of a repository that was in the
// folder before, and are not joined. Two names that both have rows stay apart.
func (db *DB) KeepIdentity(ctx context.Context, current, root precedent.Repo) (Kept, error) {
	const op = "keep the identity of the memory"
	var kept Kept
	own, rooted, err := clonesRows(ctx, db.read, current, root)
	switch {
	case err != nil:
		return kept, db.fail(op, err)
	case own != "" && (rooted == own || root.IsZero()):
		return kept, nil
	case own != "" && rooted != "":
		kept.Other, err = (&Repo{db: db, id: rooted}).Names(ctx)
		return kept, err
	}
	err = db.change(ctx, op, func(tx *sql.Tx) error {
		kept = Kept{}
		own, rooted, err := clonesRows(ctx, tx, current, root)
		if err != nil {
			return err
		}
		if own == "" {
			if own = rooted; own == "" {
				own, err = onlyWithoutRoot(ctx, tx)
			}
			if err != nil {
				return err
			}
			if own == "" {
				kept.Other, err = namesOfOthers(ctx, tx, "")
				return err
			}
			kept.Joined = true
			if err := db.addIdentity(ctx, tx, current, own); err != nil {
				return err
			}
			if err := rename(ctx, tx, own, current); err != nil {
				return err
			}
		}
		if rooted == "" && !root.IsZero() && root != current {
			return db.addIdentity(ctx, tx, root, own)
		}
		return nil
	})
	return kept, err
}

// clonesRows returns the ids of the rows with the current name and with the first commit; empty for none.
func clonesRows(ctx context.Context, q querier, current, root precedent.Repo) (own, rooted string, err error) {
	if own, err = idOf(ctx, q, current); err == nil {
		rooted, err = idOf(ctx, q, root)
	}
	return own, rooted, err
}

// idOf returns the id of the rows with an identity; empty for none.
func idOf(ctx context.Context, q querier, identity precedent.Repo) (id string, err error) {
	err = rows(ctx, q, "SELECT repo_id FROM identities WHERE host = $1 AND owner = $2 AND name = $3",
		[]any{identity.Host, identity.Owner, identity.Name}, into(&id))
	return id, err
}

// onlyWithoutRoot returns the id of the only rows of a database, if they have no first commit; else it is empty.
func onlyWithoutRoot(ctx context.Context, q querier) (id string, err error) {
	var all, rooted int
	err = row(ctx, q, `SELECT COUNT(*), COALESCE(MIN(id), ''),
		(SELECT COUNT(*) FROM identities WHERE host = $1) FROM repos`,
		[]any{precedent.LocalRepo("").Host}, into(&all, &id, &rooted))
	if err != nil {
		return "", fmt.Errorf("count repositories: %w", err)
	}
	if all != 1 || rooted > 0 {
		return "", nil
	}
	return id, nil
}

// namesOfOthers returns a name of each repository of the database but one, sorted.
func namesOfOthers(ctx context.Context, q querier, but string) ([]precedent.Repo, error) {
	return collect(ctx, q, `SELECT host, owner, name FROM identities WHERE host || '/' || owner || '/' || name IN (
			SELECT MIN(i.host || '/' || i.owner || '/' || i.name) FROM identities i
			WHERE i.repo_id <> $3 AND i.owner <> $1 AND (i.host <> $2 OR NOT EXISTS (SELECT 1 FROM identities o
				WHERE o.repo_id = i.repo_id AND o.host <> $2)) GROUP BY i.repo_id)
		ORDER BY host, owner, name`,
		[]any{precedent.NumberedRepo("", "").Owner, precedent.LocalRepo("").Host, but}, scanName)
}

// NamesOfOthers returns a name of each repository of the database but the one with the identity, sorted. It makes no
// rows.
func (db *DB) NamesOfOthers(ctx context.Context, identity precedent.Repo) ([]precedent.Repo, error) {
	id, err := idOf(ctx, db.read, identity)
	if err != nil {
		return nil, db.fail("read names", err)
	}
	all, err := namesOfOthers(ctx, db.read, id)
	return all, db.fail("read names", err)
}

// Has reports whether the database has rows with an identity.
func (db *DB) Has(ctx context.Context, identity precedent.Repo) (bool, error) {
	id, err := idOf(ctx, db.read, identity)
	return id != "", db.fail("find repository in memory", err)
}

// ErrNoRepo means that a database has no rows under a name, or that they are those of the other name.
var ErrNoRepo = errors.New("no other rows have this name")

// Adopt gives the rows with another name to the current one, and both names to them. The error wraps ErrNoRepo if
// there is nothing to adopt.
func (db *DB) Adopt(ctx context.Context, current, other precedent.Repo) error {
	return db.change(ctx, "adopt memory", func(tx *sql.Tx) error {
		own, err := db.mergeIdentities(ctx, tx, []precedent.Repo{current})
		if err != nil {
			return err
		}
		from, err := idOf(ctx, tx, other)
		if err != nil {
			return err
		}
		if from == "" || from == own {
			return fmt.Errorf("%w: %s", ErrNoRepo, other)
		}
		if err := join(ctx, tx, own, from); err != nil {
			return err
		}
		return rename(ctx, tx, own, current)
	})
}

func (db *DB) addIdentity(ctx context.Context, tx *sql.Tx, identity precedent.Repo, id string) error {
	return execute(ctx, tx,
		"INSERT INTO identities (host, owner, name, repo_id, added_at) VALUES ($1, $2, $3, $4, $5)",
		identity.Host, identity.Owner, identity.Name, id, millis(db.now()))
}
