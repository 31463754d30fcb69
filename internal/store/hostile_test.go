package store

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/google/go-cmp/cmp"

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

func testNaughtyText(t *testing.T, open opener) {
	r := repoFor(t, open(t), remote)
	schema := schemaOf(t, r.db)
	for i, s := range naughty {
		checkText(t, r, strconv.Itoa(i), s)
		checkReview(t, r, strconv.Itoa(i), s)
	}
	for i, s := range broken {
		checkText(t, r, "broken"+strconv.Itoa(i), s)
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

// checkText sends the text through every column that findings, dismissals,
// rules and decisions have for text, under a fingerprint of its own, and asks
// for it back in every way that there is. It comes back as the engine can keep it.
func checkText(t *testing.T, r *Repo, key, sent string) {
	t.Helper()
	ctx := t.Context()
	v := textReview(key, sent)
	if err := r.SaveReview(ctx, v); err != nil {
		t.Fatalf("%q: %v", sent, err)
	}
	s, path := sent, key+sent
	if r.db.Engine() == PostgreSQL {
		s = portableText(sent)
	}
	want := textReview(key, s)
	f := want.Findings[0]
	got, err := r.stored(ctx, "fp"+key+sent)
	untrailed := f
	untrailed.Trail = nil
	if diff := cmp.Diff(untrailed, got.Finding); err != nil || diff != "" {
		t.Errorf("%q: %v %s", sent, err, diff)
	}
	if known, err := r.Known(ctx, []string{path}, 10); err != nil || known[f.Fingerprint].Title != s {
		t.Errorf("%q by its path: %v %v", sent, known, err)
	}
	if history, err := r.Shown(ctx, []string{path}, Change{Base: sent, Head: sent}); err != nil || len(history) != 1 ||
		history[0].Title != s {
		t.Errorf("%q in the history: %v %v", sent, history, err)
	}
	needs.Len(t, sent+" in the history of its own change", 0)(r.Shown(ctx, []string{path}, Change{Base: v.Base, Head: v.Head}))
	empty := precedent.Review{ID: v.ID, Findings: make([]precedent.Finding, 1)}
	if err := r.readDecisions(ctx, &empty); err != nil || !cmp.Equal(empty.Findings[0].Trail, f.Trail) {
		t.Errorf("%q as a decision: %v %v", sent, empty.Findings[0].Trail, err)
	}
	saved, added, err := r.Reject(ctx, textDismissal(v.Findings[0].Fingerprint, sent))
	j := textDismissal(f.Fingerprint, s)
	j.ID, j.ExpiresAt = saved.ID, start.Add(DismissalLife)
	if diff := cmp.Diff(j, saved); err != nil || !added || diff != "" {
		t.Errorf("%q as a dismissal: %v %v %s", sent, added, err, diff)
	}
	if _, err := r.DismissalsByID(ctx, sent, start, 10); err != nil {
		t.Errorf("%q as an id of a dismissal: %v", sent, err)
	}
	if _, err := r.FindingsByID(ctx, sent, 10); err != nil {
		t.Errorf("%q as an id of a finding: %v", sent, err)
	}
}

// textReview has the text in all its fields.
func textReview(key, s string) *precedent.Review {
	v := review(remote, "text"+key+s, 1, precedent.Finding{
		ID: "id" + key, Fingerprint: "fp" + key + s, Place: s, Finder: s, Rule: s, Category: precedent.Category(s),
		Severity: precedent.Severity(s),
		Span:     precedent.Span{Path: key + s, Side: precedent.Side(s), Start: 1, End: 2}, Symbol: s, Quote: s, Title: s,
		Body:  s,
		Trail: []precedent.Decision{{Step: s, Text: s, Delta: -3, By: s}},
	})
	v.Base, v.Head = s, s+"'"
	v.RulesChecked = []precedent.Rule{{ID: s, Text: s, Source: s, Line: 1, Dir: s}}
	return v
}

func textDismissal(fingerprint, s string) precedent.Dismissal {
	return precedent.Dismissal{
		Finding: s, Fingerprint: fingerprint, Place: s, Claim: s, Path: s, Symbol: s, Category: precedent.Category(s),
		Severity: precedent.Severity(s), Reason: s, Who: s, At: start,
	}
}

// checkReview sends the text through a whole review and a repository's name.
func checkReview(t *testing.T, r *Repo, key, s string) {
	t.Helper()
	ctx := t.Context()
	f := precedent.Finding{
		Title: s, Body: s, Quote: s, Suggestion: s, Evidence: []precedent.Evidence{{Path: s, Quote: s}},
		Cites: []precedent.Cite{{Text: s}},
	}
	f.Trail = []precedent.Decision{{Text: s}}
	v := review(precedent.Repo{Host: "h", Owner: s, Name: s}, "whole"+key+s, 1, f)
	v.Target = precedent.Target{Head: s, Base: s, Why: s}
	v.Failures = []precedent.Failure{{Step: s, Error: s}}
	save(t, r, v)
	kept := s
	if r.db.Engine() == PostgreSQL {
		kept = portableText(s)
	}
	v.Findings[0].Trail[0].Text = kept // all else is in JSON
	needs.Equal(t, v, needs.Value(r.Review(ctx, v.ID))(t), reviewEqual)
	named := repoFor(t, r.db, precedent.Repo{Host: "h" + s, Owner: s, Name: key})
	if names, err := named.Names(ctx); err != nil || len(names) != 1 ||
		names[0] != (precedent.Repo{Host: "h" + kept, Owner: kept, Name: key}) {
		t.Errorf("%q as a name: %v %v", s, names, err)
	}
	if !utf8.ValidString(s) {
		t.Errorf("%q belongs to the other list", s)
	}
}
