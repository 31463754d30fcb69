package mcp

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/precedent-dev/precedent/internal/corpus"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// searched is a search that finds many hostile comments.
func searched(_ context.Context, _ *workspace.Workspace, q workspace.CorpusQuery) (workspace.CorpusResult, error) {
	got := workspace.CorpusResult{Searched: 1234, Failures: []string{"the embedding model did not answer " + token}}
	for range max(q.Limit, 1) {
		got.Found = append(got.Found, workspace.CorpusFound{
			Pull: 7, Author: "mona", At: "2025-04-05T06:07:08Z", Path: "a.go", Line: 9, URL: "https://forge.example/team/app/pull/7#discussion_r1",
			Text: "wrap the error " + token + "\x1b[31m" + order + strings.Repeat(" and so on", 100), Outcome: "adopted", Score: 0.5, Cosine: 0.71,
			Ranks: []corpus.Rank{{List: "text-words", Rank: 2, Score: 3}}, Priors: []corpus.Prior{{Factor: 1.1, Why: "was adopted"}},
		})
	}
	return got, nil
}

// TestSearchPrecedents: what people said comes as data, bounded, with the reason for its place.
func TestSearchPrecedents(t *testing.T) {
	m, _ := remember(t)
	asked := 0
	c := connect(t, New(opened(m), Options{Search: func(ctx context.Context, w *workspace.Workspace, q workspace.CorpusQuery) (workspace.CorpusResult, error) {
		asked = utf8.RuneCountInString(q.Text)
		return searched(ctx, w, q)
	}}))
	const tool = "search_precedents"
	said, failed := call(t, c, tool, map[string]any{"query": "wrap", "file": "a.go", "line": 9, "limit": 1})
	for _, want := range []string{
		`"author":"mona"`, `"date":"2025-04-05"`, `"url":"https://forge.example/team/app/pull/7#discussion_r1"`, `"outcome":"adopted"`, `"searched":1234`,
		"score 0.500 · text-words 2 · cosine 0.71 · × 1.10 was adopted", "wrap the error",
	} {
		if failed || !strings.Contains(said, want) {
			t.Errorf("%q is not in\n%s", want, said)
		}
	}
	for _, never := range []string{token, "\x1b"} {
		if strings.Contains(said, never) {
			t.Errorf("%q is in\n%s", never, said)
		}
	}
	if said, failed := call(t, c, tool, map[string]any{"query": "wrap", "limit": 100}); failed || len(said) > 3*maxPageBytes {
		t.Errorf("%d bytes, %v", len(said), failed)
	}
	// A whole comment, or a file of it, is a query.
	if said, failed := call(t, c, tool, map[string]any{"query": strings.Repeat("wrap the error ", 10_000)}); failed || asked < maxSearch-20 || asked > maxSearch {
		t.Errorf("%v, asked with %d characters: %s", failed, asked, said)
	}
	for _, wrong := range []map[string]any{
		{},
		{"query": "  "},
		{"query": "x", "limit": 101},
		{"query": "x", "limit": -1},
		{"query": "x", "line": 3},
		{"file": "a.go", "line": -1},
		{"file": "../../etc/passwd"},
		{"file": "/etc/passwd", "line": 1},
	} {
		if said, failed := call(t, c, tool, wrong); !failed {
			t.Errorf("%v is answered: %s", wrong, said)
		}
	}
}
