package store

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/precedent-dev/precedent"
)

// naughty is text that has broken programs which build SQL, JSON, paths or
// lines from strings.
var naughty = []string{
	"", " ", "\x00", "a\x00b", "\r\n", "'", "''", `"`, `\`, `\'`, "%", "_", "?", "$1", ":a", "@a", "?1",
	"'; DROP TABLE findings; --", `"; DROP TABLE findings; --`, "' OR '1'='1", "' UNION SELECT sql FROM sqlite_schema --",
	"/*", "--", ";", "X'00'", "NULL", "0", "-1", "1e309", "NaN", "9223372036854775808", "01",
	"$(touch x)", "../../etc/passwd", "日本語", "הָיְתָה", "\u202e\u202dtxt", "\u200b", "\ufeff", "\u2028\u2029", "\ufffd", "\ufffe",
	"👩‍👩‍👧", "\U000e0041", "İ", "ß", "\u212a", "e\u0301", "\x1b[31mred", "\x7f", "\u0085", "\\u0000", "\\x00", `{"a":1}`, "[[[[",
	strings.Repeat("a", 70000), strings.Repeat("'", 999), strings.Repeat("日", 5000),
}

// broken is text that is no UTF-8. JSON has no form for it, so only columns keep it.
var broken = []string{"\xff", "a\xffb", "\xc0\xaf", "\xed\xa0\x80", "caf\xe9.go", "\xf0\x9f", "\x80\x00\xff"}

// testNaughtyText: texts come back as they were saved, or as the engine can keep them, and change nothing else.
func testNaughtyText(t *testing.T, r *Repo) {
	schema := schemaOf(t, r.db)
	for i, s := range slices.Concat(naughty, broken) {
		checkText(t, r, strconv.Itoa(i), s)
	}
	if c, err := r.Count(t.Context()); err != nil || c.Findings != len(naughty)+len(broken) {
		t.Errorf("%d findings, %v, want %d", c.Findings, err, len(naughty)+len(broken))
	}
	needs.Equal(t, schema, schemaOf(t, r.db))
	checkHealth(t, r.db)
}

// schemaOf describes the columns and indexes of a database.
func schemaOf(t *testing.T, db *DB) []string {
	t.Helper()
	query := map[Engine]string{
		SQLite: "SELECT type || name || COALESCE(sql, '') FROM sqlite_schema ORDER BY 1",
		PostgreSQL: `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || COALESCE(collation_name, '') || ' ' || is_nullable || COALESCE(column_default, '')
			FROM information_schema.columns WHERE table_schema = current_schema()
			UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
	}[db.Engine()]
	var all []string
	needs.NoError(t, rows(t.Context(), db.sql, query, nil, func(s scanner) error {
		var line string
		err := s.Scan(&line)
		all = append(all, line)
		return err
	}))
	return all
}

// checkText saves a review and a dismissal that have the text everywhere, under a fingerprint of their own, and asks for
// them by it.
func checkText(t *testing.T, r *Repo, key, sent string) {
	t.Helper()
	ctx := t.Context()
	v := textReview(key, sent)
	save(t, r, v)
	s, path := sent, key+sent
	if r.db.Engine() == PostgreSQL {
		s = portableText(sent)
	}
	want := textReview(key, s)
	f := want.Findings[0]
	got, err := r.stored(ctx, "fp"+key+sent)
	if diff := cmp.Diff(f, got.Finding, cmpopts.IgnoreFields(f, "Suggestion", "Trail", "Evidence", "Cites")); err != nil || diff != "" {
		t.Errorf("%q: %v %s", sent, err, diff)
	}
	if utf8.ValidString(sent) { // JSON has no form for others
		v.Findings[0].Trail[0] = f.Trail[0] // all else is in JSON
		needs.Equal(t, v, needs.Value(r.Review(ctx, v.ID))(t), reviewEqual)
	}
	if history, err := r.Shown(ctx, []string{path}, Change{Base: sent, Head: sent}); err != nil || len(history) != 1 ||
		history[0].Title != s {
		t.Errorf("%q in the history: %v %v", sent, history, err)
	}
	needs.Len(t, sent+" in the history of its own change", 0)(r.Shown(ctx, []string{path}, Change{Base: v.Base, Head: v.Head}))
	saved := dismiss(t, r, dismissalOf(v.Findings[0]))
	j := dismissalOf(f)
	j.ID, j.ExpiresAt = saved.ID, start.Add(DismissalLife)
	needs.Equal(t, j, saved)
	needs.Value(r.DismissalsByID(ctx, sent, start, 10))(t)
	needs.Value(r.FindingsByID(ctx, sent, 10))(t)
	named := repoFor(t, r.db, precedent.Repo{Host: "h" + sent, Owner: sent, Name: key})
	needs.Result(t, sent+" as a name", []precedent.Repo{{Host: "h" + s, Owner: s, Name: key}})(named.Names(ctx))
}

// textReview has the text in all its fields.
func textReview(key, s string) *precedent.Review {
	v := review(precedent.Repo{Host: "h", Owner: s, Name: s}, "text"+key+s, 1, precedent.Finding{
		ID: "id" + key, Fingerprint: "fp" + key + s, Place: s, Finder: s, Rule: s, Category: precedent.Category(s),
		Severity: precedent.Severity(s),
		Span:     precedent.Span{Path: key + s, Side: precedent.Side(s), Start: 1, End: 2}, Symbol: s, Quote: s, Title: s,
		Body: s, Suggestion: s, Evidence: []precedent.Evidence{{Path: s, Quote: s}}, Cites: []precedent.Cite{{Text: s}},
		Trail: []precedent.Decision{{Step: s, Text: s, Delta: -3, By: s}},
	})
	v.Base, v.Head, v.Target = s, s+"'", precedent.Target{Head: s, Base: s, Why: s}
	v.RulesChecked = []precedent.Rule{{ID: s, Text: s, Source: s, Line: 1, Dir: s}}
	v.Failures = []precedent.Failure{{Step: s, Error: s}}
	return v
}
