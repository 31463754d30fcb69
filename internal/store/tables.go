package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
)

// table is a table of what an installation knows. What has a repo_id belongs to a repository.
type table struct {
	name, key string
	// before are statements that prepare the move of the rows of the repository $2 to the repository $1.
	before []string
	// conflict says what becomes of a row that $1 has, too; if it is empty, that of $1 stays.
	conflict string
}

// tables are in an order in which a table comes after those that it refers to.
var tables = []table{
	{name: "repos", key: "id"},
	{name: "identities", key: "host, owner, name"},
	{name: "reviews", key: "id"},
	{name: "findings", key: "repo_id, fingerprint", conflict: `ON CONFLICT (repo_id, fingerprint) DO UPDATE SET
		seen = findings.seen + excluded.seen,
		first_seen = CASE WHEN excluded.first_seen < findings.first_seen THEN excluded.first_seen
			ELSE findings.first_seen END,
		last_review = CASE WHEN excluded.last_seen > findings.last_seen THEN excluded.last_review
			ELSE findings.last_review END,
		last_seen = CASE WHEN excluded.last_seen > findings.last_seen THEN excluded.last_seen ELSE findings.last_seen END`},
	{name: "finding_ids", key: "repo_id, id, fingerprint"},
	{name: "sightings", key: "review_id, fingerprint"},
	{name: "decisions", key: "review_id, finding, nth"},
	// Of two dismissals of one finding the one that holds longer stays.
	{name: "rejections", key: "id", before: []string{`DELETE FROM rejections WHERE (repo_id = $1 OR repo_id = $2) AND EXISTS (
		SELECT 1 FROM rejections o WHERE (o.repo_id = $1 OR o.repo_id = $2) AND o.repo_id <> rejections.repo_id
			AND o.fingerprint = rejections.fingerprint AND (o.expires_at > rejections.expires_at
				OR o.expires_at = rejections.expires_at AND o.repo_id = $1))`}},
	{name: "labels", key: "repo_id, fingerprint"},
	{name: "spending", key: "repo_id, day", conflict: `ON CONFLICT (repo_id, day) DO UPDATE SET
		microdollars = spending.microdollars + excluded.microdollars`},
	{name: "answers", key: "repo_id, task"},
	{name: "posts", key: "repo_id, id"},
	{name: "threads", key: "repo_id, id"},
	{name: "outcomes", key: "repo_id, pull, fingerprint", conflict: `ON CONFLICT (repo_id, pull, fingerprint) DO UPDATE SET
		outcome = excluded.outcome, document = excluded.document, at = excluded.at, accepted = excluded.accepted,
		confidence = excluded.confidence, refit = excluded.refit, finder = excluded.finder,
		category = excluded.category, severity = excluded.severity WHERE outcomes.outcome = 'unknown'`},
	{name: "pull_spending", key: "repo_id, pull", conflict: `ON CONFLICT (repo_id, pull) DO UPDATE SET
		microdollars = pull_spending.microdollars + excluded.microdollars`},
	// Of two learnings with one id the one that changed last stays, but what was forgotten stays forgotten.
	{name: "learnings", key: "repo_id, id", before: []string{`DELETE FROM learnings WHERE repo_id = $1
		AND state <> 'forgotten' AND EXISTS (SELECT 1 FROM learnings o WHERE o.repo_id = $2 AND o.id = learnings.id
			AND (o.state = 'forgotten' OR o.updated_at > learnings.updated_at))`}},
	{name: "learning_history", key: "repo_id, id, nth", before: []string{`DELETE FROM learning_history WHERE repo_id = $2
		AND EXISTS (SELECT 1 FROM learning_history o WHERE o.repo_id = $1 AND o.id = learning_history.id)`}},
	{name: "threshold_resets", key: "repo_id", conflict: `ON CONFLICT (repo_id) DO UPDATE SET at = excluded.at
		WHERE threshold_resets.at < excluded.at`},
	{name: "thresholds", key: "repo_id, review_id"},
	{name: "insights", key: "repo_id, id", conflict: `ON CONFLICT (repo_id, id) DO UPDATE SET
		dismissed_by = excluded.dismissed_by, dismissed_why = excluded.dismissed_why, dismissed_at = excluded.dismissed_at
		WHERE insights.dismissed_at < excluded.dismissed_at`},
	{name: "insight_findings", key: "repo_id, id, fingerprint"},
	{name: "consolidations", key: "repo_id"},
	{name: "shared_findings", key: "repo_id, fingerprint"},
	{name: "handled_comments", key: "repo_id, pull, comment"},
	{name: "paused_pulls", key: "repo_id, pull"},
	{
		name: "forgotten", key: "repo_id, kind, id",
		before: []string{`DELETE FROM rejections WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM forgotten o
			WHERE o.repo_id IN ($1, $2) AND o.kind = 'rejection' AND o.id = rejections.fingerprint AND o.at >= rejections.at)`},
		conflict: `ON CONFLICT (repo_id, kind, id) DO UPDATE SET at = excluded.at WHERE forgotten.at < excluded.at`,
	},
	// The index of the corpus is made again from all chunks.
	{name: "corpus_rules", key: "repo_id", before: []string{"UPDATE corpus_rules SET rules = 0 WHERE repo_id = $1 OR repo_id = $2"}},
	// Of a pull request or a comment that both have, the newer version stays.
	{name: "corpus_pulls", key: "repo_id, number", before: []string{
		`UPDATE corpus_pulls SET reverted = (SELECT MAX(o.reverted) FROM corpus_pulls o WHERE (o.repo_id = $1 OR o.repo_id = $2)
			AND o.number = corpus_pulls.number) WHERE repo_id = $1 OR repo_id = $2`,
		`DELETE FROM corpus_pulls WHERE repo_id = $1 AND EXISTS (SELECT 1 FROM corpus_pulls o
			WHERE o.repo_id = $2 AND o.number = corpus_pulls.number AND o.updated_at > corpus_pulls.updated_at)`,
	}},
	{name: "corpus_comments", key: "repo_id, kind, id", before: []string{`DELETE FROM corpus_comments WHERE repo_id = $1
		AND EXISTS (SELECT 1 FROM corpus_comments o WHERE o.repo_id = $2 AND o.kind = corpus_comments.kind
			AND o.id = corpus_comments.id AND o.updated_at > corpus_comments.updated_at
			AND o.updated_at > corpus_comments.deleted_at)`, `DELETE FROM corpus_comments WHERE repo_id = $1
		AND EXISTS (SELECT 1 FROM corpus_comments o WHERE o.repo_id = $2 AND o.kind = corpus_comments.kind
			AND o.id = corpus_comments.id AND o.deleted_at >= corpus_comments.updated_at
			AND o.deleted_at > corpus_comments.deleted_at)`}},
	{name: "corpus_chunks", key: "repo_id, kind, comment, chunk", before: []string{
		"UPDATE corpus_chunks SET number = 0 WHERE repo_id = $1 OR repo_id = $2",
	}},
	{name: "corpus_blocks", key: "repo_id, block", before: []string{
		"DELETE FROM corpus_blocks WHERE repo_id = $1 OR repo_id = $2",
	}},
	{name: "corpus_checkpoints", key: "repo_id, stream"},
	{name: "corpus_vectors", key: "repo_id, kind, comment, chunk, model, dimensions"},
	{name: "corpus_listings", key: "repo_id, stream"},
	{name: "corpus_listed", key: "repo_id, kind, id"},
	// What only one of two has seen is looked at again.
	{name: "watched_pulls", key: "repo_id, pull", before: []string{`DELETE FROM watched_pulls WHERE repo_id = $2
		OR repo_id = $1 AND EXISTS (SELECT 1 FROM watched_pulls o WHERE o.repo_id = $2 AND o.pull = watched_pulls.pull)`}},
	{name: "asked_pulls", key: "repo_id, pull"},
	{name: "audit", key: "id"},
	{name: "server_values", key: "name"},
	{name: "deliveries", key: "forge, id"},
	{name: "work", key: "id"},
	{name: "work_turns", key: "repo"},
}

// otherTables belong to running processes, to who is signed in, or to the database itself.
var otherTables = []string{"runs", "replicas", "sessions", versionTable}

// join moves the rows of the repository from to the repository to. If both have a finding, one
// row with the sightings of both remains.
func join(ctx context.Context, tx *sql.Tx, to, from string) error {
	for _, t := range tables {
		move, err := t.move(ctx, tx)
		if err != nil {
			return err
		}
		for _, statement := range append(slices.Clone(t.before), move...) {
			if err := execute(ctx, tx, statement, to, from); err != nil {
				return err
			}
		}
	}
	// The remaining rows were merged into those of the other.
	return execute(ctx, tx, "DELETE FROM repos WHERE id = $1", from)
}

// move returns the statement that moves rows, or none if they belong to no repository.
func (t table) move(ctx context.Context, tx *sql.Tx) ([]string, error) {
	none, err := tx.QueryContext(ctx, "SELECT * FROM "+t.name+" WHERE FALSE")
	if err != nil {
		return nil, err
	}
	defer none.Close()
	columns, err := none.Columns()
	switch {
	case err != nil || !slices.Contains(columns, "repo_id"):
		return nil, err
	case !strings.HasPrefix(t.key, "repo_id"):
		return []string{"UPDATE " + t.name + " SET repo_id = $1 WHERE repo_id = $2"}, none.Err()
	}
	list := strings.Join(columns, ", ")
	return []string{"INSERT INTO " + t.name + " (" + list + ") SELECT " + strings.Replace(list, "repo_id", "$1", 1) +
		" FROM " + t.name + " WHERE repo_id = $2 " + cmp.Or(t.conflict, "ON CONFLICT DO NOTHING")}, none.Err()
}

// clear deletes the rows of the repository from the tables whose names begin so, but not its identities and what
// people did on pages.
func (r *Repo) clear(ctx context.Context, tx *sql.Tx, prefix string) error {
	for _, t := range tables {
		// Other rows are deleted with these.
		own := strings.HasPrefix(t.key, "repo_id") || slices.Contains([]string{"audit", "reviews", "rejections"}, t.name)
		if !own || !strings.HasPrefix(t.name, prefix) {
			continue
		}
		if err := execute(ctx, tx, "DELETE FROM "+t.name+" WHERE repo_id = $1", r.id); err != nil {
			return err
		}
	}
	return nil
}
