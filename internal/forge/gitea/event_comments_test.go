package gitea_test

import (
	"fmt"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestCommentsOfEvents: an event tells that a comment was edited or deleted, but not its kind, so
// that a new one is not told.
func TestCommentsOfEvents(t *testing.T) {
	c := open(t, forgetest.NewStage(t), "https://git.example.org")
	for _, test := range []struct {
		action, pull string
		want         forge.CommentAction
	}{
		{"edited", `"pull_request": {}`, forge.CommentEdited},
		{"deleted", `"pull_request": {}`, forge.CommentDeleted},
		{"created", `"pull_request": {}`, ""},
		{"edited", `"pull_request": null`, ""},
	} {
		e, err := c.ReadEvent("issue_comment", fmt.Appendf(nil, `{"action": %q, "issue": {"number": 3, %s}, "repository": {"full_name": "acme/shop"},
			"comment": {"id": 18, "body": "A reply", "user": {"id": 3, "login": "bob"}, "created_at": "2026-11-22T06:56:01Z", "updated_at": "2026-11-22T06:57:01Z"}}`, test.action, test.pull))
		needs.NoError(t, err)
		if test.want == "" {
			if len(e.Comments) != 0 {
				t.Errorf("%s: %+v", test.action, e.Comments)
			}
			continue
		}
		if len(e.Comments) != 1 || e.Comments[0].Action != test.want || e.Comments[0].Kind != "" ||
			e.Comments[0].ID != "18" || e.Comments[0].Number != 3 ||
			e.Comments[0].Author.ID != "3" || string(e.Comments[0].Body) != "A reply" {
			t.Errorf("%s: %+v", test.action, e.Comments)
		}
	}
}
