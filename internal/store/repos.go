package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
)

// Repo gives access to the rows of one repository, and is the only way to reach them.
type Repo struct {
	db *DB
	id string
}

// RepoFor returns the rows of the repository with the identities, and creates an empty set of
// rows if there are none. The ids of findings are made from the first identity.
//
// A repository without a remote is identified by its root commit. When it gets a remote, a
// call with both merges them: the rows move to the remote, findings get new ids from it, and
// the old ids stay valid. Two remotes are never merged, because forks share their root commit
// and must not read each other's memory; Follow does that for two names of one repository.
// For the same reason a root commit identifies only rows that were saved under it.
func (db *DB) RepoFor(ctx context.Context, identities ...precedent.Repo) (*Repo, error) {
	const op = "find repository in memory"
	if len(identities) == 0 || slices.ContainsFunc(identities, precedent.Repo.IsZero) {
		return nil, db.fail(op, fmt.Errorf("%w: none given", precedent.ErrRepo))
	}
	r := &Repo{db: db}
	found, err := lookUp(ctx, db.read, identities)
	if err != nil {
		return nil, db.fail(op, err)
	}
	if found.merged() {
		r.id = found.ids[0]
		return r, nil
	}
	err = db.change(ctx, op, func(tx *sql.Tx) error {
		r.id, err = db.mergeIdentities(ctx, tx, identities)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Repos returns all repositories of the database, the oldest first.
func (db *DB) Repos(ctx context.Context) ([]*Repo, error) {
	all, err := collect(ctx, db.read, "SELECT id FROM repos ORDER BY created_at, id", nil,
		func(s scanner, r **Repo) error {
			*r = &Repo{db: db}
			return s.Scan(&(*r).id)
		})
	return all, db.fail("read repositories", err)
}

// Page is a part of a list: Limit entries after Offset others.
type Page struct{ Limit, Offset int }

// Active is a repository with its last review.
type Active struct {
	*Repo
	Name precedent.Repo // the one that it got last
	Last time.Time      // zero if it has no review
}

// ActiveRepos returns repositories that have a name on a forge, those that were reviewed last first.
func (db *DB) ActiveRepos(ctx context.Context, p Page) ([]Active, error) {
	var all []Active
	err := rows(ctx, db.read, `
		SELECT r.id, r.reviewed_at, n.host, n.owner, n.name
		FROM (SELECT id, reviewed_at FROM repos WHERE EXISTS (SELECT 1 FROM identities WHERE repo_id = repos.id AND owner <> $1 AND host <> $2)
			ORDER BY reviewed_at DESC, id LIMIT $3 OFFSET $4) r
		JOIN identities n ON n.repo_id = r.id AND n.owner <> $1 AND n.host <> $2
		ORDER BY r.reviewed_at DESC, r.id, n.added_at DESC, n.host, n.owner, n.name`,
		[]any{precedent.NumberedRepo("", "").Owner, precedent.LocalRepo("").Host, p.Limit, p.Offset}, func(s scanner) error {
			a := Active{Repo: &Repo{db: db}}
			err := s.Scan(&a.id, (*moment)(&a.Last), &a.Name.Host, &a.Name.Owner, &a.Name.Name)
			if n := len(all); n == 0 || all[n-1].id != a.id {
				all = append(all, a)
			}
			return err
		})
	return all, db.fail("read repositories", err)
}

// Names returns the identities of the repository, sorted: that by its first commit only if there is no other,
// and not that by number.
func (r *Repo) Names(ctx context.Context) ([]precedent.Repo, error) {
	names, err := collect(ctx, r.db.read,
		"SELECT host, owner, name FROM identities WHERE repo_id = $1 AND owner <> $2 ORDER BY host, owner, name",
		[]any{r.id, precedent.NumberedRepo("", "").Owner}, scanName)
	if slices.ContainsFunc(names, precedent.Repo.HasOwner) {
		names = slices.DeleteFunc(names, precedent.Repo.IsLocal)
	}
	return names, r.db.fail("read names", err)
}

func scanName(s scanner, n *precedent.Repo) error { return s.Scan(&n.Host, &n.Owner, &n.Name) }

// lookup holds the rows that some identities refer to. Both slices are as long as the
// identities.
type lookup struct {
	ids    []string // of rows; empty for an unknown identity
	remote []bool   // whether the rows have a remote
}

// merged tells whether nothing has to be written: the first identity has rows, and no other
// rows have to be merged into them.
func (o lookup) merged() bool {
	for i, id := range o.ids {
		if id != o.ids[0] && id != "" && !o.remote[i] {
			return false
		}
	}
	return o.ids[0] != ""
}

func lookUp(ctx context.Context, q querier, identities []precedent.Repo) (lookup, error) {
	var o lookup
	for _, identity := range identities {
		var id string
		var remotes int
		err := rows(ctx, q, `
			SELECT i.repo_id, (SELECT COUNT(*) FROM identities r WHERE r.repo_id = i.repo_id AND r.host <> $4)
			FROM identities i WHERE i.host = $1 AND i.owner = $2 AND i.name = $3`,
			[]any{identity.Host, identity.Owner, identity.Name, precedent.LocalRepo("").Host}, into(&id, &remotes))
		if err != nil {
			return o, err
		}
		o.ids, o.remote = append(o.ids, id), append(o.remote, remotes > 0)
	}
	return o, nil
}

// mergeIdentities gives the first identity rows, merges into them those of other identities
// that have no remote yet, and returns their id.
func (db *DB) mergeIdentities(ctx context.Context, tx *sql.Tx, identities []precedent.Repo) (string, error) {
	found, err := lookUp(ctx, tx, identities)
	if err != nil {
		return "", err
	}
	id := found.ids[0]
	for i, other := range found.ids {
		switch {
		case other == "" || other == id || found.remote[i]:
		case id == "":
			id = other // the first identity takes them over
		default:
			if err := join(ctx, tx, id, other); err != nil {
				return "", err
			}
		}
	}
	if id == "" {
		if id, err = db.addRepo(ctx, tx); err != nil {
			return "", err
		}
	}
	if found.ids[0] == "" {
		if err := db.addIdentity(ctx, tx, identities[0], id); err != nil {
			return "", err
		}
	}
	return id, rename(ctx, tx, id, identities[0])
}

// rename adds, for each finding of the repository, the id made from the identity. Earlier ids
// stay valid.
func rename(ctx context.Context, tx *sql.Tx, id string, identity precedent.Repo) error {
	fingerprints, err := collect(ctx, tx, "SELECT fingerprint FROM findings WHERE repo_id = $1", []any{id},
		scanOne[string])
	if err != nil {
		return err
	}
	for _, fp := range fingerprints {
		name := precedent.FindingID(identity, fp)
		for _, statement := range []string{
			"UPDATE findings SET id = $3 WHERE repo_id = $1 AND fingerprint = $2",
			"UPDATE rejections SET finding = $3 WHERE repo_id = $1 AND fingerprint = $2",
			`INSERT INTO finding_ids (repo_id, fingerprint, id) VALUES ($1, $2, $3)
			ON CONFLICT (repo_id, id, fingerprint) DO NOTHING`,
		} {
			if err := execute(ctx, tx, statement, id, fp, name); err != nil {
				return err
			}
		}
	}
	return nil
}
