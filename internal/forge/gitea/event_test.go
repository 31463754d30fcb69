package gitea_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/needs"
)

func eventClient(t testing.TB) *gitea.Client {
	t.Helper()
	c := needs.Value(gitea.New(gitea.Options{BaseURL: "https://git.example"}))(t)
	return c
}

// TestEvents: what TestHooks lacks, among that the events of workflows.
func TestEvents(t *testing.T) {
	c := eventClient(t)
	sha := strings.Repeat("a", 40)
	const common = `"repository": {"full_name": "acme/shop"}, "sender": {"id": 7, "login": "ann"}`
	pull := `"number": 3, "pull_request": {"number": 3, "head": {"sha": "` + sha + `"}}, "requested_reviewer": null`
	number := []int{3}
	for _, test := range []struct {
		name, action, payload string
		want                  forge.Event
	}{
		{
			"pull_request_approved", "reviewed", `"review": {"type": "x"}, ` + pull,
			forge.Event{Kind: forge.CommentEvent, Action: forge.ActionCreated, Pulls: number, Head: sha},
		},
		{"pull_request", "label_cleared", pull, forge.Event{Action: forge.ActionUnlabeled, Head: sha}},
		{"pull_request", "assigned", pull, forge.Event{Head: sha}}, // fault 7
		{
			"issue_comment", "created", `"issue": {"number": 3, "state": "open", "pull_request": {"draft": true}},
				"comment": {"id": 18}, "is_pull": true, ` + pull,
			forge.Event{Kind: forge.CommentEvent, Action: forge.ActionCreated, Pulls: number},
		},
		{ // of no kind: it may be on lines
			"issue_comment", "edited", `"issue": {"number": 3, "pull_request": {}}, "comment": {"id": 18, "body": "A reply"}`,
			forge.Event{Kind: forge.CommentEvent, Action: forge.ActionEdited, Pulls: number, Comments: []forge.CommentChange{{
				Action: forge.CommentEdited, NumberedComment: forge.NumberedComment{Number: 3, Comment: forge.Comment{
					ID: "18", Body: "A reply", Author: forge.Person{Login: "ghost"},
				}},
			}}},
		},
		{
			"workflow_run", "completed", `"workflow_run": {"head_sha": "` + sha + `", "pull_requests": [{"number": 4}]}`,
			forge.Event{Kind: forge.RunEvent, Action: forge.ActionCompleted, Pulls: []int{4}, Head: sha},
		},
		{
			"status", "", `"sha": "` + sha + `", "context": "ci", "state": "warning"`,
			forge.Event{Kind: forge.RunEvent, Action: forge.ActionCompleted, Head: sha, Check: "ci"},
		},
		{
			"push", "", `"ref": "refs/heads/w", "after": "` + sha + `"`,
			forge.Event{Kind: forge.PushEvent, Head: sha},
		},
	} {
		if test.want.Kind == "" {
			test.want.Kind, test.want.Pulls = forge.PullEvent, number
		}
		test.want.Sender = forge.Person{ID: "7", Login: "ann"}
		test.want.Repo = precedent.Repo{Host: "git.example", Owner: "acme", Name: "shop"}
		payload := `{"action": "` + test.action + `", ` + test.payload + `, ` + common + `}`
		needs.Result(t, test.name+payload, test.want)(c.ReadEvent(test.name, []byte(payload)))
	}
	for _, payload := range []string{
		`{}`, `{"issue": {"number": 3}, "comment": {"id": 5}, "is_pull": false, ` + common + `}`,
		`{"ref": "x", "sha": "` + sha + `", ` + common + `}`, `{"after": "` + strings.Repeat("0", 40) + `", ` + common + `}`,
	} {
		if got, err := c.ReadEvent("x", []byte(payload)); err != nil || got.Kind != forge.NoEvent {
			t.Errorf("%s: %+v, %v", payload, got, err)
		}
	}
	for _, payload := range []string{
		`{`, `[]`, `{"pull_request": {"number": -3},` + common + `}`, `{"pull_request": {"number": "3"},` + common + `}`,
		`{` + pull + `}`, `{` + pull + `, "repository": {"full_name": "acme/.."}}`, `{"after": "--x", ` + common + `}`,
		`{"context": "ci", ` + common + `}`,
		`{"after": "` + sha + `", "re`,                                          // fault 6
		`{"after": "` + sha + `", "AFTER": "` + sha + `", ` + common + `}`,      // T26
		`{"action": "opened", "Action": "closed", ` + pull + `,` + common + `}`, // T26
	} {
		var e *forge.Error
		if got, err := c.ReadEvent("x", []byte(payload)); !errors.As(err, &e) || e.Kind != forge.KindAnswer {
			t.Errorf("%s: %+v, %v", payload, got, err)
		}
	}
	var e *forge.Error
	if _, err := c.ReadEvent("push", make([]byte, forge.MaxEvent+1)); !errors.As(err, &e) || e.Kind != forge.KindTooLarge {
		t.Error(err)
	}
}

// FuzzReadEvent: whatever comes, there is an event or an error of the forge.
func FuzzReadEvent(f *testing.F) {
	f.Add(`{"pull_request": {"number": 3}, "repository": {"full_name": "acme/shop"}}`)
	f.Add(`{"issue": {"number": 3, "pull_request": {}}, "comment": {"id": 18}}`)
	f.Fuzz(func(t *testing.T, payload string) {
		got, err := eventClient(t).ReadEvent("x", []byte(payload))
		var e *forge.Error
		if err != nil && !errors.As(err, &e) || err == nil && got.Kind != forge.NoEvent && got.Repo.IsZero() {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestHooks: what Gitea and Forgejo send when something happens is verified and read.
func TestHooks(t *testing.T) {
	for name, kind := range map[string]forgetest.GiteaKind{"Gitea": forgetest.Gitea127, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			forgetest.Hooks(t, func(t *testing.T, s *forgetest.Stage, address, secret string) (forge.Forge, *forgetest.Hook) {
				g := s.Gitea(t)
				g.Kind = kind
				c := open(t, s, g.URL)
				return c, g.Hook(address, secret, nil)
			})
		})
	}
}
