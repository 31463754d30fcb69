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
	Name precedent.Repo // the first of its names
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
		ORDER BY r.reviewed_at DESC, r.id, n.host, n.owner, n.name`,
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

// join moves the rows of the repository from to the repository to. If both have a finding, one
// row with the sightings of both remains.
func join(ctx context.Context, tx *sql.Tx, to, from string) error { //nolint:funlen // a list of statements
	for _, statement := range append([]string{
		`UPDATE identities SET repo_id = $1 WHERE repo_id = $2`,
		`UPDATE reviews SET repo_id = $1 WHERE repo_id = $2`,
		`UPDATE decisions SET repo_id = $1 WHERE repo_id = $2`,
		`INSERT INTO findings (repo_id, fingerprint, id, place, finder, rule, category, severity, confidence, path, side,
			start_line, end_line, symbol, quote, title, body, seen, first_seen, last_seen, last_review)
		SELECT $1, fingerprint, id, place, finder, rule, category, severity, confidence, path, side,
			start_line, end_line, symbol, quote, title, body, seen, first_seen, last_seen, last_review
		FROM findings WHERE repo_id = $2
		ON CONFLICT (repo_id, fingerprint) DO UPDATE SET
			seen = findings.seen + excluded.seen,
			first_seen = CASE WHEN excluded.first_seen < findings.first_seen THEN excluded.first_seen
				ELSE findings.first_seen END,
			last_review = CASE WHEN excluded.last_seen > findings.last_seen THEN excluded.last_review
				ELSE findings.last_review END,
			last_seen = CASE WHEN excluded.last_seen > findings.last_seen THEN excluded.last_seen ELSE findings.last_seen END`,
		`UPDATE sightings SET repo_id = $1 WHERE repo_id = $2`,
		`INSERT INTO finding_ids (repo_id, id, fingerprint) SELECT $1, id, fingerprint FROM finding_ids WHERE repo_id = $2
		ON CONFLICT (repo_id, id, fingerprint) DO NOTHING`,
		`INSERT INTO rules (repo_id, hash, id, text, category, source, line, dir)
		SELECT $1, hash, id, text, category, source, line, dir FROM rules WHERE repo_id = $2
		ON CONFLICT (repo_id, hash) DO NOTHING`,
		`UPDATE review_rules SET repo_id = $1 WHERE repo_id = $2`,
		// Of two dismissals of one finding the one that holds longer stays.
		`DELETE FROM rejections WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM rejections o
			WHERE o.repo_id = $2 AND o.fingerprint = rejections.fingerprint AND o.expires_at > rejections.expires_at)`,
		`UPDATE rejections SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM rejections o
			WHERE o.repo_id = $1 AND o.fingerprint = rejections.fingerprint)`,
		`INSERT INTO forgotten (repo_id, kind, id, at) SELECT $1, kind, id, at FROM forgotten WHERE repo_id = $2
		ON CONFLICT (repo_id, kind, id) DO UPDATE SET at = CASE WHEN excluded.at > forgotten.at THEN excluded.at
			ELSE forgotten.at END`,
		`DELETE FROM rejections WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM forgotten o
			WHERE o.repo_id IN ($1, $2) AND o.kind = 'rejection' AND o.id = rejections.fingerprint AND o.at >= rejections.at)`,
		`INSERT INTO labels (repo_id, fingerprint, place, finder, category, severity, confidence, outcome, at, accepted,
			refit)
		SELECT $1, fingerprint, place, finder, category, severity, confidence, outcome, at, accepted, refit FROM labels
			WHERE repo_id = $2
		ON CONFLICT (repo_id, fingerprint) DO NOTHING`,
		`INSERT INTO spending (repo_id, day, microdollars) SELECT $1, day, microdollars FROM spending WHERE repo_id = $2
		ON CONFLICT (repo_id, day) DO UPDATE SET microdollars = spending.microdollars + excluded.microdollars`,
		`UPDATE posts SET repo_id = $1 WHERE repo_id = $2`,
		`UPDATE threads SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM threads o
			WHERE o.repo_id = $1 AND (o.id = threads.id OR o.pull = threads.pull AND o.fingerprint = threads.fingerprint))`,
		`INSERT INTO outcomes (repo_id, pull, fingerprint, outcome, document, at, accepted, confidence, refit, finder,
			category, severity)
		SELECT $1, pull, fingerprint, outcome, document, at, accepted, confidence, refit, finder, category, severity
			FROM outcomes WHERE repo_id = $2
		ON CONFLICT (repo_id, pull, fingerprint) DO UPDATE SET
			outcome = excluded.outcome, document = excluded.document, at = excluded.at, accepted = excluded.accepted,
				confidence = excluded.confidence,
			refit = excluded.refit, finder = excluded.finder, category = excluded.category, severity = excluded.severity
			WHERE outcomes.outcome = 'unknown'`,
		`INSERT INTO threshold_resets (repo_id, at) SELECT $1, at FROM threshold_resets WHERE repo_id = $2
		ON CONFLICT (repo_id) DO UPDATE SET at = excluded.at WHERE threshold_resets.at < excluded.at`,
		`UPDATE thresholds SET repo_id = $1 WHERE repo_id = $2`,
		`INSERT INTO pull_spending (repo_id, pull, microdollars) SELECT $1, pull, microdollars FROM pull_spending
			WHERE repo_id = $2
		ON CONFLICT (repo_id, pull) DO UPDATE SET microdollars = pull_spending.microdollars + excluded.microdollars`,
		// Of two learnings with one id the one that changed last stays, but what was forgotten stays forgotten.
		`DELETE FROM learnings WHERE repo_id = $1 AND state <> 'forgotten' AND EXISTS (SELECT 1 FROM learnings o
			WHERE o.repo_id = $2 AND o.id = learnings.id AND (o.state = 'forgotten' OR o.updated_at > learnings.updated_at))`,
		`INSERT INTO learnings (repo_id, id, state, scope, document, updated_at, loaded, used, last_used, about)
		SELECT $1, id, state, scope, document, updated_at, loaded, used, last_used, about FROM learnings WHERE repo_id = $2
		ON CONFLICT (repo_id, id) DO NOTHING`,
		`UPDATE learning_history SET repo_id = $1 WHERE repo_id = $2 AND NOT EXISTS (SELECT 1 FROM learning_history o
			WHERE o.repo_id = $1 AND o.id = learning_history.id)`,
		`INSERT INTO handled_comments (repo_id, pull, comment, hash, document, at)
		SELECT $1, pull, comment, hash, document, at FROM handled_comments WHERE repo_id = $2
		ON CONFLICT (repo_id, pull, comment) DO NOTHING`,
		`INSERT INTO paused_pulls (repo_id, pull, who, at) SELECT $1, pull, who, at FROM paused_pulls WHERE repo_id = $2
		ON CONFLICT (repo_id, pull) DO NOTHING`,
		`INSERT INTO insights (repo_id, id, document, updated_at, dismissed_by, dismissed_why, dismissed_at)
		SELECT $1, id, document, updated_at, dismissed_by, dismissed_why, dismissed_at FROM insights WHERE repo_id = $2
		ON CONFLICT (repo_id, id) DO UPDATE SET dismissed_by = excluded.dismissed_by, dismissed_why = excluded.dismissed_why,
			dismissed_at = excluded.dismissed_at WHERE insights.dismissed_at < excluded.dismissed_at`,
		`INSERT INTO insight_findings (repo_id, id, fingerprint) SELECT $1, id, fingerprint FROM insight_findings
			WHERE repo_id = $2
		ON CONFLICT (repo_id, id, fingerprint) DO NOTHING`,
		`INSERT INTO shared_findings (repo_id, fingerprint, path, category, severity, seen, first_seen, last_seen)
		SELECT $1, fingerprint, path, category, severity, seen, first_seen, last_seen FROM shared_findings WHERE repo_id = $2
		ON CONFLICT (repo_id, fingerprint) DO NOTHING`,
		// What only one of two has seen is looked at again.
		`DELETE FROM watched_pulls WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM watched_pulls o WHERE o.repo_id = $2
			AND o.pull = watched_pulls.pull)`,
		`INSERT INTO asked_pulls (repo_id, pull, asked) SELECT $1, pull, asked FROM asked_pulls WHERE repo_id = $2
		ON CONFLICT (repo_id, pull) DO NOTHING`,
		`INSERT INTO answers (repo_id, task, answer, at) SELECT $1, task, answer, at FROM answers WHERE repo_id = $2
		ON CONFLICT (repo_id, task) DO NOTHING`,
		// Of a pull request or a comment that both have, the newer version stays. Chunks are made
		// again by RefreshCorpus.
	}, joinCorpus...) {
		if _, err := tx.ExecContext(ctx, statement, to, from); err != nil {
			return err
		}
	}
	// The remaining rows were merged into those of the other.
	_, err := tx.ExecContext(ctx, "DELETE FROM repos WHERE id = $1", from)
	return err
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
			if _, err := tx.ExecContext(ctx, statement, id, fp, name); err != nil {
				return err
			}
		}
	}
	return nil
}
