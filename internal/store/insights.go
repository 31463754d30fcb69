package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/precedent-dev/precedent"
)

// ErrNoInsight means that no insight has the id.
var ErrNoInsight = errors.New("no such insight")

// maxInsights limits the insights that are read of one repository, the newest first. It is
// more than its findings have patterns.
const maxInsights = 2_000

const insightColumns = "i.document, i.dismissed_by, i.dismissed_why, i.dismissed_at"

func scanInsight(s scanner, i *precedent.Insight) error {
	var d precedent.InsightDismissal
	err := s.Scan(document{i}, &d.Who, &d.Reason, (*moment)(&d.At))
	if i.Dismissed = nil; !d.At.IsZero() {
		i.State, i.Dismissed = precedent.InsightPaused, &d
	}
	return err
}

// Insights returns the insights of the repository, the last changed first.
func (r *Repo) Insights(ctx context.Context) ([]precedent.Insight, error) {
	return r.insights(ctx, r.db.read, "TRUE ORDER BY i.updated_at DESC, i.id LIMIT $2", maxInsights)
}

// InsightsByID returns the insights whose id starts with the prefix, at most limit.
func (r *Repo) InsightsByID(ctx context.Context, prefix string, limit int) ([]precedent.Insight, error) {
	return r.insights(ctx, r.db.read, "SUBSTR(i.id, 1, LENGTH($2)) = $2 ORDER BY i.id LIMIT $3", prefix, limit)
}

func (r *Repo) insights(ctx context.Context, q querier, condition string, args ...any) ([]precedent.Insight, error) {
	found, err := collect(ctx, q, "SELECT "+insightColumns+" FROM insights i WHERE i.repo_id = $1 AND "+condition,
		append([]any{r.id}, args...), scanInsight)
	return found, r.db.fail("read insights", err)
}

// DismissInsight pauses the insight with the id in a person's name, or undoes that if d is nil.
// The error wraps ErrNoInsight if there is none.
func (r *Repo) DismissInsight(ctx context.Context, id string, d *precedent.InsightDismissal) error {
	var who, why string
	var at int64
	if d != nil {
		who, why, at = d.Who, d.Reason, millis(d.At)
	}
	return r.change(ctx, "dismiss insight", func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, `UPDATE insights SET dismissed_by = $3, dismissed_why = $4, dismissed_at = $5
			WHERE repo_id = $1 AND id = $2`, r.id, id, who, why, at))
		if err == nil && n == 0 {
			err = ErrNoInsight
		}
		return err
	})
}

// saveInsights saves insights and the findings that they refer to. What a person said of them stays.
func (r *Repo) saveInsights(ctx context.Context, tx *sql.Tx, all []precedent.Insight) error {
	for _, i := range all {
		i.Dismissed = nil
		if err := putRows(ctx, tx, "insights", "repo_id, id", "document, updated_at",
			[]any{r.id, i.ID, document{i}, millis(i.UpdatedAt)}); err != nil {
			return err
		}
		if err := execute(ctx, tx, "DELETE FROM insight_findings WHERE repo_id = $1 AND id = $2", r.id, i.ID); err != nil {
			return err
		}
		var findings [][]any
		for _, fingerprint := range i.Findings {
			findings = append(findings, []any{r.id, i.ID, fingerprint})
		}
		if err := insertRows(ctx, tx, "INSERT INTO insight_findings (repo_id, id, fingerprint)",
			"ON CONFLICT (repo_id, id, fingerprint) DO NOTHING", findings); err != nil {
			return err
		}
	}
	return nil
}

// Consolidation says when patterns were looked for, and what is new since. Times are zero for
// never.
type Consolidation struct {
	AttemptedAt, CompletedAt time.Time
	// Since the last attempt, and since the last one that completed, so many findings were
	// shown for the first time; counted up to 100.
	NewSinceAttempt, NewSinceCompleted int
}

// newFindings counts the findings of $1 that were first shown after a time, up to 100. Their last time, by which there is
// an index, is not before that: without it, the check after each command reads all findings.
const newFindings = "(SELECT COUNT(*) FROM (SELECT 1 FROM findings f WHERE f.repo_id = $1 AND f.seen > 0 AND " +
	"f.first_seen > %[1]s AND f.last_seen > %[1]s LIMIT 100) found)"

// Consolidation returns when patterns were looked for, and what is new since.
func (r *Repo) Consolidation(ctx context.Context) (Consolidation, error) {
	var c Consolidation
	state := func(column string) string {
		return "COALESCE((SELECT c." + column + " FROM consolidations c WHERE c.repo_id = $1), 0)"
	}
	err := row(ctx, r.db.read, "SELECT "+state("attempted_at")+", "+state("completed_at")+", "+
		fmt.Sprintf(newFindings, state("attempted_upto"))+", "+fmt.Sprintf(newFindings, state("completed_upto")),
		[]any{r.id}, into((*moment)(&c.AttemptedAt), (*moment)(&c.CompletedAt), &c.NewSinceAttempt,
			&c.NewSinceCompleted))
	return c, r.db.fail("read state of consolidation", err)
}

// BeginConsolidation makes holder the only one that looks for patterns in this memory, until it
// calls EndConsolidation, or for the given time. It is false while another one does. One that
// is killed holds its turn until the time is over. It counts as an attempt.
func (r *Repo) BeginConsolidation(ctx context.Context, holder string, limit time.Duration) (bool, error) {
	taken := false
	err := r.change(ctx, "begin consolidation", func(tx *sql.Tx) error {
		now := r.db.now()
		var upto int64
		err := row(ctx, tx, "SELECT COALESCE(MAX(f.first_seen), 0) FROM findings f WHERE f.repo_id = $1 AND f.seen > 0",
			[]any{r.id}, into(&upto))
		if err != nil {
			return err
		}
		n, err := affected(tx.ExecContext(ctx, `
			INSERT INTO consolidations (repo_id, holder, until, attempted_at, attempted_upto) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (repo_id) DO UPDATE SET holder = excluded.holder, until = excluded.until,
				attempted_at = excluded.attempted_at, attempted_upto = excluded.attempted_upto
			WHERE consolidations.until <= $4`, r.id, holder, millis(now.Add(limit)), millis(now), upto))
		taken = n > 0
		return err
	})
	return taken, err
}

// EndConsolidation saves the insights that holder found, and ends its turn, all or nothing. It
// is false, and nothing is saved, if its turn is over: another one may have saved its own. If
// failed is set, the run counts as an attempt only.
func (r *Repo) EndConsolidation(ctx context.Context, holder string, found []precedent.Insight, failed bool) (bool,
	error,
) {
	held := false
	err := r.change(ctx, "save insights", func(tx *sql.Tx) error {
		now := millis(r.db.now())
		completed := ", completed_at = $3, completed_upto = attempted_upto"
		if failed {
			completed = ""
		}
		n, err := affected(tx.ExecContext(ctx,
			"UPDATE consolidations SET until = 0"+completed+" WHERE repo_id = $1 AND holder = $2 AND until > $3", r.id, holder,
			now))
		if held = n > 0; err != nil || !held {
			return err
		}
		return r.saveInsights(ctx, tx, found)
	})
	return held && err == nil, err
}
