package github

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// TestCommentEvents: events of kinds and actions that the examples lack tell which comment was created, edited or
// deleted.
func TestCommentEvents(t *testing.T) {
	c := public(t)
	const repo = `"repository": {"full_name": "a/b", "html_url": "https://github.com/a/b"}`
	const user = `"user": {"id": 5, "login": "bo", "type": "User"}`
	for _, test := range []struct {
		name, payload string
		want          forge.CommentAction // empty: nothing is told
		body          string
	}{
		{"issue_comment", `{"action": "edited", "issue": {"number": 7, "title": "T", "pull_request": {}}, "comment": {"id": 9, "body": "why?", ` + user + `,
			"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z", "author_association": "MEMBER"}, ` + repo + `}`, forge.CommentEdited, "why?"},
		{"issue_comment", `{"action": "created", "issue": {"number": 7, "title": "T"}, "comment": {"id": 9, "body": "why?"}, ` + repo + `}`, "", ""},
		{"issue_comment", `{"action": "pinned", "issue": {"number": 7, "pull_request": {}}, "comment": {"id": 9, "created_at": "2026-01-01T00:00:00Z"}, ` + repo + `}`, "", ""},
		{"pull_request_review", `{"action": "submitted", "review": {"id": 9, "body": "no", "submitted_at": "2026-01-01T00:00:00Z", ` + user + `},
			"pull_request": {"number": 7, "title": "T"}, ` + repo + `}`, forge.CommentCreated, "no"},
		{
			"pull_request_review",
			`{"action": "submitted", "review": {"id": 9, "body": null, "submitted_at": "2026-01-01T00:00:00Z"}, "pull_request": {"number": 7}, ` + repo + `}`, "", "",
		},
		{"pull_request_review", `{"action": "edited", "review": {"id": 9, "body": "", "submitted_at": "2026-01-01T00:00:00Z"},
			"pull_request": {"number": 7, "updated_at": "2026-01-03T00:00:00Z"}, ` + repo + `}`, forge.CommentDeleted, ""},
		{"pull_request_review_comment", `{"action": "deleted", "comment": {"id": 9, "path": "a.go", "diff_hunk": "@@ -1 +1 @@\n+x", "original_line": 3, "body": "b",
			"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}, "pull_request": {"number": 7}, ` + repo + `}`, forge.CommentDeleted, "b"},
	} {
		e, err := c.ReadEvent(test.name, []byte(test.payload))
		if err != nil {
			t.Errorf("%s: %v", test.payload, err)
			continue
		}
		if test.want == "" {
			if len(e.Comments) > 0 {
				t.Errorf("%s: %+v", test.payload, e.Comments)
			}
			continue
		}
		if len(e.Comments) != 1 || e.Comments[0].Action != test.want || e.Comments[0].ID != "9" ||
			e.Comments[0].Number != 7 || string(e.Comments[0].Body) != test.body {
			t.Errorf("%s: %+v", test.payload, e.Comments)
		}
	}
}
