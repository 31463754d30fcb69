package corpus

import (
	"encoding/json"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

func TestParseLine(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	repo := precedent.Repo{Host: "github.com", Owner: "team", Name: "app"}
	for _, test := range []struct {
		name, line string
		want       imported
	}{
		{
			"GitHub's comment on lines",
			`{"id": 5, "in_reply_to_id": 4, "user": {"id": 9, "login": "bob", "type": "User"}, "author_association": "OWNER", "path": "a.go", "line": 7, "start_line": 5,
			"side": "LEFT", "start_side": "LEFT", "commit_id": "c1", "original_commit_id": "c0", "diff_hunk": "@@\n-x", "body": "why\tso? \ud83d\ude00", "created_at": "2026-01-02T03:04:05Z",
			"updated_at": "2026-01-02T04:04:05+01:00", "html_url": "https://github.com/team/app/pull/7#discussion_r5", "pull_request_url": "https://api.github.com/repos/team/app/pulls/7"}`,
			imported{has: true, repo: repo, comment: Comment{CorpusComment: precedent.CorpusComment{
				Kind: "inline", ID: "5", Root: "4", Pull: 7, AuthorID: "9", Author: "bob", MayWrite: true, Body: "why\tso? 😀",
				Span: precedent.Span{Path: "a.go", Side: precedent.Left, Start: 5, End: 7}, Hunk: "@@\n-x", Commit: "c1",
				URL: "https://github.com/team/app/pull/7#discussion_r5", At: at, UpdatedAt: at,
			}}},
		},
		{
			"a backup's comment, outdated",
			`{"pr": 8, "pr_title": "Add a cache", "pr_merged_at": "2026-01-02T03:04:05Z", "author": null, "id": 6, "path": "a.go", "line": null, "original_line": 25, "original_start_line": null,
			"commit_id": "c1", "original_commit_id": "c0", "diff_hunk": "@@", "body": "b", "created_at": "2026-01-02T03:04:05Z", "author_association": "NONE"}`,
			imported{
				has: true, pull: store.CorpusPull{CorpusPull: precedent.CorpusPull{Number: 8, Title: "Add a cache", Merged: at}},
				comment: Comment{CorpusComment: precedent.CorpusComment{
					Kind: "inline", ID: "6", Root: "6", Pull: 8, Author: "ghost", Body: "b",
					Span: precedent.Span{Path: "a.go", Side: precedent.Right, Start: 25, End: 25},
					Hunk: "@@", Commit: "c0", Outdated: true, At: at,
				}},
			},
		},
		{
			"a review",
			`{"id": 3, "user": {"id": 2, "login": "max", "type": "Bot"}, "body": "b", "state": "APPROVED", "submitted_at": "2026-01-02T03:04:05Z", "pull_request_url": "https://api.github.com/repos/team/app/pulls/7"}`,
			imported{has: true, repo: repo, comment: Comment{Bot: true, CorpusComment: precedent.CorpusComment{
				Kind: "review",
				ID:   "3", Root: "3", Pull: 7, AuthorID: "2", Author: "max", Body: "b", At: at,
			}}},
		},
		{
			"a pull request",
			`{"number": 7, "title": "Revert \"x\"", "body": "Reverts #3", "user": {"id": 2, "login": "max"}, "head": {}, "merged_at": null, "updated_at": "2026-01-02T03:04:05Z", "html_url": "https://github.com/team/app/pull/7"}`,
			imported{repo: repo, pull: store.CorpusPull{Reverts: 3, CorpusPull: precedent.CorpusPull{
				Number: 7, Title: `Revert "x"`,
				AuthorID: "2", Author: "max", UpdatedAt: at,
			}}},
		},
	} {
		got, err := parseLine([]byte(test.line))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		text := func(v imported) string {
			return string(needs.Value(json.Marshal([]any{v.has, v.repo, v.comment, v.pull, v.comment.Bot}))(t))
		}
		if diff := cmp.Diff(text(test.want), text(got)); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	if _, err := parseLine([]byte(`{"id": 3, "body": "b", "html_url": "https://github.com/team/app/issues/7", "created_at": "2026-01-02T03:04:05Z", "issue_url": "https://api.github.com/repos/team/app/issues/7"}`)); err != errNoPull {
		t.Error("a comment on an issue:", err)
	}
}

// FuzzParseLine: no line makes the parser panic, and what it reads is valid and bounded.
func FuzzParseLine(f *testing.F) {
	for _, line := range []string{
		`{"id": 1, "path": "a", "body": "\u00e9\ud83d\ude00\ud800\n\"", "pr": 3, "created_at": "2026-01-02T03:04:05Z"}`,
		`{"a": [1, -0.5e+10, true, false, null, {"b": []}], "body": "x"}`, `{"body": "` + "\xff" + `"}`, "{", "", "[]",
		`{"body":"a","body":"b"}`, `{"a":01}`, "{} x",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if got, err := parseLine(line); err == nil && got.has {
			clean := (&Corpus{}).clean(got.comment, &Saved{})
			if clean != nil && (!utf8.ValidString(string(clean.Body)) || !utf8.ValidString(string(clean.Hunk)) || len(clean.Hunk) > 16*maxHunk) {
				t.Errorf("%q %q", string(clean.Body), string(clean.Hunk))
			}
		}
	})
}
