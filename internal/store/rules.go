package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/precedent-dev/precedent"
)

// saveRules stores the rules that a review checked. A guide seldom changes, so a rule is
// stored once per content and reviews refer to it.
func (r *Repo) saveRules(ctx context.Context, tx *sql.Tx, review *precedent.Review) error {
	var rules, order [][]any
	for n, rule := range review.RulesChecked {
		hash := contentHash(rule)
		rules = append(rules, []any{r.id, hash, rule.ID, rule.Text, "", rule.Source, rule.Line, rule.Dir})
		order = append(order, []any{review.ID, r.id, n, hash})
	}
	if err := insertRows(ctx, tx, "INSERT INTO rules (repo_id, hash, id, text, category, source, line, dir)",
		"ON CONFLICT (repo_id, hash) DO NOTHING", rules); err != nil {
		return err
	}
	return insertRows(ctx, tx, "INSERT INTO review_rules (review_id, repo_id, nth, hash)", "", order)
}

// rulesOf returns the rules that the review with the id checked, in its order.
func (r *Repo) rulesOf(ctx context.Context, review string) ([]precedent.Rule, error) {
	return collect(ctx, r.db.read, `
		SELECT u.id, u.text, u.source, u.line, u.dir
		FROM review_rules w JOIN rules u ON u.repo_id = w.repo_id AND u.hash = w.hash
		WHERE w.repo_id = $1 AND w.review_id = $2 ORDER BY w.nth`,
		[]any{r.id, review}, func(s scanner, u *precedent.Rule) error {
			return s.Scan(&u.ID, &u.Text, &u.Source, &u.Line, &u.Dir)
		})
}

func contentHash(rule precedent.Rule) string {
	// Quoting keeps the fields apart, whatever bytes they hold.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{
		rule.ID, rule.Text, rule.Source, strconv.Itoa(rule.Line), rule.Dir,
	}))
	return hex.EncodeToString(sum[:16])
}
