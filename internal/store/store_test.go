package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

var (
	remote = precedent.Repo{Host: "example.com", Owner: "team", Name: "app"}
	local  = precedent.LocalRepo("0123456789abcdef0123456789abcdef01234567")
	other  = precedent.Repo{Host: "example.com", Owner: "team", Name: "other"}
	start  = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
)

func repoFor(t testing.TB, db *DB, identities ...precedent.Repo) *Repo {
	t.Helper()
	return needs.Value(db.RepoFor(t.Context(), identities...))(t)
}

// finding makes a finding on a line of a file, with the ids that repo gives it.
func finding(repo precedent.Repo, path, line string, c precedent.Category, s precedent.Severity) precedent.Finding {
	place := precedent.Place(path, line, "before", "after")
	fp := precedent.Fingerprint(place, c, 0)
	f := precedent.Finding{
		ID: precedent.FindingID(repo, fp), Fingerprint: fp, Place: place, Finder: "bugs", Category: c, Severity: s,
		Confidence: 80,
		Span:       precedent.Span{Path: path, Side: precedent.Right, Start: 3, End: 3}, Quote: line, Symbol: "Check",
		Title: "Title of " + line, Body: "Body of " + line, Votes: 1, Verifier: precedent.Unchecked,
		Placement: precedent.Inline,
		Evidence:  []precedent.Evidence{{Path: path, Line: 3, Quote: line}}, Cites: []precedent.Cite{},
	}
	f.Note("place", "the quote stands in line %d", 3)
	return f
}

// bug is a finding on a line of a.go.
func bug(line string) precedent.Finding {
	return finding(remote, "a.go", line, precedent.Bugs, precedent.High)
}

// review makes a review of the n-th change.
func review(repo precedent.Repo, id string, n int, findings ...precedent.Finding) *precedent.Review {
	return &precedent.Review{
		Schema: precedent.ResultSchema, ID: id, Repo: repo, Base: fmt.Sprintf("base%d", n), Head: fmt.Sprintf("head%d", n),
		Scope: precedent.AnalyzersScope, Verdict: precedent.Findings, Threshold: 75, Findings: findings,
		At:           start.Add(time.Duration(n) * time.Hour),
		Target:       precedent.Target{Head: "feature", Base: "main", Added: 3},
		RulesChecked: []precedent.Rule{{ID: "0a1b2c3d", Text: "Wrap errors once.", Source: "CLAUDE.md", Line: 4}},
	}
}

func save(t testing.TB, r *Repo, v *precedent.Review) {
	t.Helper()
	needs.NoError(t, r.SaveReview(t.Context(), v))
}

// randomReview makes a review with a random number of findings and decisions.
func randomReview(rnd *rand.Rand, repo precedent.Repo, id string) *precedent.Review {
	v := review(repo, id, rnd.IntN(5))
	for range rnd.IntN(12) {
		f := finding(repo, fmt.Sprintf("dir/file%d.go", rnd.IntN(4)), fmt.Sprintf("line %d", rnd.IntN(8)),
			precedent.Categories[rnd.IntN(len(precedent.Categories))], precedent.Severities[rnd.IntN(5)])
		for range rnd.IntN(4) {
			f.Note("score", "chance says %d", rnd.IntN(100))
		}
		if rnd.IntN(4) == 0 {
			f.Drop("select", precedent.BelowThreshold, "", "below 75")
		}
		v.Findings = append(v.Findings, f)
	}
	return v
}

// ask returns what a query finds in one column of one row.
func ask[T any](t testing.TB, db *DB, query string, args ...any) (v T) {
	t.Helper()
	needs.NoError(t, row(t.Context(), db.sql, query, args, into(&v)))
	return v
}

// stored returns the finding with the fingerprint as it is stored.
func (r *Repo) stored(ctx context.Context, fingerprint string) (Known, error) {
	var k Known
	err := row(ctx, r.db.read, "SELECT "+knownColumns+" FROM findings WHERE repo_id = $1 AND fingerprint = $2",
		[]any{r.id, fingerprint}, func(s scanner) error { return scanKnown(s, &k) })
	return k, err
}
