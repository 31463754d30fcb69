package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// Counts are numbers of rows, stored or deleted.
type Counts struct {
	Reviews    int `json:"reviews"`
	Findings   int `json:"findings"`
	Sightings  int `json:"sightings"`
	Dismissals int `json:"rejections"`
	Labels     int `json:"labels"` // of pruned findings
	Posts      int `json:"posts"`  // sent or planned
	Threads    int `json:"threads"`
	Outcomes   int `json:"outcomes"` // of posted findings, unknown ones included
	Learnings  int `json:"learnings"`
	Forgotten  int `json:"forgotten"` // dismissals that were taken back
	Insights   int `json:"insights"`
	Comments   int `json:"comments"` // of the corpus, deleted ones included
}

// Count counts the rows of the repository.
func (r *Repo) Count(ctx context.Context) (Counts, error) {
	c, err := r.count(ctx, r.db.read)
	return c, r.db.fail("count memory", err)
}

type tally struct {
	table string
	rows  *int
}

func (c *Counts) tallies() []tally {
	return []tally{
		{"reviews", &c.Reviews},
		{"findings", &c.Findings},
		{"sightings", &c.Sightings},
		{"rejections", &c.Dismissals},
		{"labels", &c.Labels},
		{"posts", &c.Posts},
		{"threads", &c.Threads},
		{"outcomes", &c.Outcomes},
		{"learnings", &c.Learnings},
		{"forgotten", &c.Forgotten},
		{"insights", &c.Insights},
		{"corpus_comments", &c.Comments},
	}
}

func (r *Repo) count(ctx context.Context, q querier) (c Counts, err error) {
	var columns []string
	var numbers []any
	for _, t := range c.tallies() {
		columns = append(columns, "(SELECT COUNT(*) FROM "+t.table+" WHERE repo_id = $1)")
		numbers = append(numbers, t.rows)
	}
	err = row(ctx, q, "SELECT "+strings.Join(columns, ", "), []any{r.id}, into(numbers...))
	return c, err
}

func (c Counts) subtract(after Counts) Counts {
	less := after.tallies()
	for i, t := range c.tallies() {
		*t.rows -= *less[i].rows
	}
	return c
}

// Add is the sum of two counts.
func (c Counts) Add(d Counts) Counts { return c.subtract(Counts{}.subtract(d)) }

// prunable selects the fingerprints of the findings of $1 that were last seen before $2, or that have $3 newer
// ones in their file, unless something refers to them: a dismissal that is valid at $4, an open
// thread, an outcome that became known since $2, a learning that is not forgotten, or an insight.
const prunable = `
	SELECT p.fingerprint FROM (
		SELECT f.fingerprint, f.last_seen, ROW_NUMBER() OVER (PARTITION BY f.path ORDER BY f.last_seen DESC, f.fingerprint) AS nth
		FROM findings f WHERE f.repo_id = $1
	) AS p WHERE (p.last_seen < $2 OR p.nth > $3) AND NOT EXISTS (
		SELECT 1 FROM rejections j WHERE j.repo_id = $1 AND j.fingerprint = p.fingerprint AND j.expires_at > $4)
		AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.repo_id = $1 AND o.fingerprint = p.fingerprint
			AND o.outcome <> 'unknown' AND o.at >= $2)
		AND NOT EXISTS (SELECT 1 FROM learnings g WHERE g.repo_id = $1 AND g.about = p.fingerprint AND g.state <> 'forgotten')
		AND NOT EXISTS (SELECT 1 FROM insight_findings i WHERE i.repo_id = $1 AND i.fingerprint = p.fingerprint)
		AND p.fingerprint NOT IN (SELECT t.fingerprint FROM threads t WHERE ` + openThread + `)`

// outcomeOf is the last known outcome of the finding l, from dismissals and outcomes; empty if
// there is none.
const outcomeOf = `COALESCE((
	SELECT w.outcome FROM (
		SELECT 'rejected' AS outcome, j.at AS at, 0 AS nth FROM rejections j WHERE j.repo_id = $1
			AND j.fingerprint = l.fingerprint
		UNION ALL
		SELECT o.outcome AS outcome, o.at AS at, 1 AS nth FROM outcomes o
			WHERE o.repo_id = $1 AND o.fingerprint = l.fingerprint AND o.outcome <> 'unknown'
	) AS w ORDER BY w.at DESC, w.nth LIMIT 1), '')`

// answered selects what a label of a finding is made from: its outcomes that are labels, the
// newest with the number 1.
const answered = `
	SELECT o.fingerprint, o.accepted, o.confidence, o.refit, o.at,
		ROW_NUMBER() OVER (PARTITION BY o.fingerprint ORDER BY o.at DESC, o.pull DESC) AS nth
	FROM outcomes o WHERE o.repo_id = $1 AND o.accepted >= 0`

// Prune deletes findings that were last seen before the time, and those beyond the newest
// perFile of each file, except those to which a dismissal that is valid at now, an open
// thread, an outcome since then, a learning or an insight refers. It keeps a label of each
// deleted finding: place, category, and the confidence and outcome with which it was posted.
// Threads and outcomes are deleted with their finding. Older reviews are deleted
// unless they are the last one of a remaining finding; posts are deleted if the pull request
// has no later review and no open thread. It returns what was deleted; Labels counts the
// labels that were made.
func (r *Repo) Prune(ctx context.Context, before time.Time, perFile int, now time.Time) (Counts, error) {
	deleted, err := r.prune(ctx, before, perFile, now)
	return r.shrinkAfter(ctx, deleted, err)
}

// PruneAll is Prune for all repositories. One that fails does not stop the others. The space in a file
// of SQLite is used again, but not returned to the disk: that would hold up a server for as long as the
// file is copied.
func (db *DB) PruneAll(ctx context.Context, before time.Time, perFile int, now time.Time) (Counts, error) {
	var total Counts
	all, failed := db.Repos(ctx)
	for _, r := range all {
		deleted, err := r.prune(ctx, before, perFile, now)
		total, failed = total.Add(deleted), errors.Join(failed, err)
		if ctx.Err() != nil {
			return total, failed
		}
	}
	if db.engine == PostgreSQL {
		failed = errors.Join(failed, db.shrink(ctx))
	}
	return total, failed
}

func (r *Repo) prune(ctx context.Context, before time.Time, perFile int, now time.Time) (Counts, error) {
	steps := []struct {
		sql  string
		args []any
	}{
		{
			`INSERT INTO labels (repo_id, fingerprint, place, finder, category, severity, confidence, outcome, at, accepted,
				refit)
		SELECT l.repo_id, l.fingerprint, l.place, l.finder, l.category, l.severity, COALESCE(a.confidence, l.confidence),
			` + outcomeOf + `, COALESCE(a.at, l.last_seen), COALESCE(a.accepted, -1), COALESCE(a.refit, 0)
		FROM findings l LEFT JOIN (` + answered + `) AS a ON a.fingerprint = l.fingerprint AND a.nth = 1
			WHERE l.repo_id = $1 AND l.fingerprint IN (` + prunable + `)
		ON CONFLICT (repo_id, fingerprint) DO UPDATE SET place = excluded.place, finder = excluded.finder,
			category = excluded.category, severity = excluded.severity, confidence = excluded.confidence,
			outcome = excluded.outcome, at = excluded.at, accepted = excluded.accepted, refit = excluded.refit
			WHERE excluded.accepted >= 0 OR labels.accepted < 0`,
			[]any{r.id, millis(before), perFile, millis(now)},
		},
		{
			`DELETE FROM findings WHERE repo_id = $1 AND fingerprint IN (` + prunable + `)`,
			[]any{r.id, millis(before), perFile, millis(now)},
		},
		{
			`DELETE FROM rejections WHERE repo_id = $1 AND expires_at <= $2 AND NOT EXISTS (
			SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.fingerprint = rejections.fingerprint)`,
			[]any{r.id, millis(now)},
		},
		{
			`DELETE FROM reviews WHERE repo_id = $1 AND at < $2 AND NOT EXISTS (
			SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.last_review = reviews.id)
			AND pull NOT IN (SELECT t.pull FROM threads t WHERE ` + openThread + `)`,
			[]any{r.id, millis(before)},
		},
		{
			`DELETE FROM threads WHERE repo_id = $1 AND updated_at < $2 AND id NOT IN (SELECT t.id FROM threads t
				WHERE ` + openThread + `)
			AND NOT EXISTS (SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.fingerprint = threads.fingerprint)`,
			[]any{r.id, millis(before)},
		},
		{
			`DELETE FROM outcomes WHERE repo_id = $1 AND at < $2 AND NOT EXISTS (
			SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.fingerprint = outcomes.fingerprint) AND NOT EXISTS (
			SELECT 1 FROM threads t WHERE t.repo_id = $1 AND t.pull = outcomes.pull AND t.fingerprint = outcomes.fingerprint)`,
			[]any{r.id, millis(before)},
		},
		{
			`DELETE FROM posts WHERE repo_id = $1 AND at < $2 AND pull NOT IN (
			SELECT n.pull FROM posts n WHERE n.repo_id = $1 AND n.at >= $2) AND pull NOT IN (
			SELECT t.pull FROM threads t WHERE t.repo_id = $1 AND t.state NOT IN ('resolved', 'wont_fix'))`,
			[]any{r.id, millis(before)},
		},
		{
			`DELETE FROM handled_comments WHERE repo_id = $1 AND at < $2 AND pull NOT IN (SELECT n.pull FROM posts n
				WHERE n.repo_id = $1)`,
			[]any{r.id, millis(before)},
		},
	}
	deleted, err := r.delete(ctx, "prune memory", func(tx *sql.Tx) error {
		for _, step := range steps {
			if err := execute(ctx, tx, step.sql, step.args...); err != nil {
				return err
			}
		}
		return nil
	})
	deleted.Labels = -deleted.Labels
	return deleted, err
}

// Clear deletes everything about the repository, labels included, except its identities.
func (r *Repo) Clear(ctx context.Context) (Counts, error) {
	deleted, err := r.delete(ctx, "clear memory", func(tx *sql.Tx) error { return r.clear(ctx, tx, "") })
	return r.shrinkAfter(ctx, deleted, err)
}

// delete runs use in one transaction, and returns what it deleted.
func (r *Repo) delete(ctx context.Context, op string, use func(*sql.Tx) error) (Counts, error) {
	var before, after Counts
	err := r.change(ctx, op, func(tx *sql.Tx) error {
		var err error
		if before, err = r.count(ctx, tx); err != nil {
			return err
		}
		if err = use(tx); err != nil {
			return err
		}
		after, err = r.count(ctx, tx)
		return err
	})
	if err != nil {
		return Counts{}, err
	}
	return before.subtract(after), nil
}

// shrinkAfter returns the space of what was deleted to the disk, if that is much.
func (r *Repo) shrinkAfter(ctx context.Context, deleted Counts, err error) (Counts, error) {
	if err == nil && deleted.Reviews+deleted.Findings+deleted.Comments > 0 {
		err = r.db.shrink(ctx)
	}
	return deleted, err
}
