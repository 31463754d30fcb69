package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/needs"
)

// hooksVariable names a copy of the examples; without it scripts/testhooks.sh puts one into .tools.
const hooksVariable = "PRECEDENT_TEST_WEBHOOKS"

// examples are GitHub's own of each event.
func examples(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	data := needs.Value(os.ReadFile(needs.File(t, hooksVariable, "hooks/index.json", "GitHub's examples of webhooks")))(t)
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	needs.NoError(t, json.Unmarshal(data, &events))
	all := map[string][]json.RawMessage{}
	for _, e := range events {
		all[e.Name] = e.Examples
	}
	if len(all) < 50 { // there were 58 in 2026
		t.Fatalf("%d events", len(all))
	}
	return all
}

// public is a client of github.com, which the examples come from.
func public(t testing.TB) *Client {
	t.Helper()
	c := needs.Value(New(Options{}))(t)
	return c
}

// commentKinds are the kinds of the comments that events tell of.
var commentKinds = map[string]forge.CommentKind{
	"issue_comment": forge.OnThread, "pull_request_review_comment": forge.OnLine, "pull_request_review": forge.OnReview,
}

// TestExamplesOfEvents: every example of GitHub's is understood, with its comment, or is of no event that counts here.
func TestExamplesOfEvents(t *testing.T) {
	c := public(t)
	count, told := map[string]int{}, map[forge.CommentKind]int{}
	for name, all := range examples(t) {
		for i, payload := range all {
			e, err := c.ReadEvent(name, payload)
			if err != nil {
				t.Errorf("%s %d: %v", name, i, err)
				continue
			}
			for _, m := range e.Comments {
				told[m.Kind]++
				if m.Kind != commentKinds[name] || m.Action == "" || m.Number != e.Pulls[0] || m.Pull.Number != m.Number ||
					m.Pull.Title == "" || m.ID.Number() <= 0 || m.Author.ID == "" || m.At.IsZero() || m.Edited.Before(m.At) ||
					m.URL == "" {
					t.Errorf("%s %d: %+v", name, i, m)
				}
			}
			if e.Kind == forge.NoEvent {
				needs.Equal(t, forge.Event{}, e)
				continue
			}
			count[name]++
			ofRepo := e.Kind != forge.InstallationEvent
			if e.Kind != eventKinds[name] || e.Sender.ID == "" || e.Repo.IsZero() == ofRepo ||
				ofRepo && e.Repo.Host != "github.com" ||
				(e.Kind == forge.PullEvent || e.Kind == forge.CommentEvent) && (len(e.Pulls) != 1 || e.Pulls[0] <= 0) ||
				e.Kind == forge.RunEvent && !git.IsObjectID(e.Head) {
				t.Errorf("%s %d: %+v", name, i, e)
			}
		}
	}
	for name := range eventKinds {
		if count[name] == 0 && name != "pull_request_target" && name != "issue_comment" { // its examples are of issues
			t.Errorf("no example of %s was understood", name)
		}
	}
	if told[forge.OnLine] == 0 {
		t.Errorf("comments of the kinds %v", told)
	}
}

// TestOddEvents: comments on issues do not count, on pull requests they do; what cannot be true is an error.
func TestOddEvents(t *testing.T) {
	c := public(t)
	const repo = `"repository":{"id":1,"full_name":"acme/shop","html_url":"https://github.com/acme/shop"},"sender":{"id":7,"login":"ann"}`
	e, err := c.ReadEvent("issue_comment",
		[]byte(`{"action":"created","issue":{"number":3,"pull_request":{"url":"x"}},"comment":{"id":5},`+repo+`}`))
	want := forge.Event{
		Kind: forge.CommentEvent, Action: forge.ActionCreated, Sender: forge.Person{ID: "7", Login: "ann"},
		Repo: precedent.Repo{Host: "github.com", Owner: "acme", Name: "shop"}, Pulls: []int{3},
	}
	needs.NoError(t, err)
	needs.Equal(t, want, e)
	for name, payload := range map[string]string{
		"issue_comment": `{"action":"created","issue":{"number":3},"comment":{"id":5},` + repo + `}`,
		"":              `{}`,
	} {
		if e, err := c.ReadEvent(name, []byte(payload)); err != nil || e.Kind != forge.NoEvent {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
	}
	e, err = c.ReadEvent("push", []byte(`{"ref":"refs/heads/x","after":"`+strings.Repeat("0", 40)+`",`+repo+`}`))
	if err != nil || e.Head != "" || e.Kind != forge.PushEvent {
		t.Errorf("a branch that is deleted: %+v, %v", e, err)
	}
	// Another repository has the same commit in a pull request of its own.
	e, err = c.ReadEvent("check_run", []byte(`{"check_run":{"head_sha":"`+strings.Repeat("a", 40)+`",
		"pull_requests":[{"number":9,"base":{"repo":{"id":2}}},{"number":4,"base":{"repo":{"id":1}}}]},`+repo+`}`))
	if err != nil || len(e.Pulls) != 1 || e.Pulls[0] != 4 {
		t.Errorf("%+v, %v", e, err)
	}
	for name, test := range map[string][2]string{
		"no repository":          {"push", `{}`},
		"another forge":          {"push", `{"repository":{"full_name":"acme/shop","html_url":"https://evil.example/acme/shop"}}`},
		"a path":                 {"push", `{"repository":{"full_name":"acme/..","html_url":"https://github.com/acme/shop"}}`},
		"no pull request":        {"pull_request", `{` + repo + `}`},
		"an option for a commit": {"status", `{"sha":"--x",` + repo + `}`},
		"no check":               {"check_run", `{` + repo + `}`},
		"number in quotes":       {"pull_request", `{"pull_request":{"number":"1"},` + repo + `}`},
		"an installation elsewhere": {
			"installation",
			`{"action":"created","installation":{"account":{"html_url":"https://evil.example/acme"}}}`,
		},
		"fault 6: cut off": {"push", `{"after":"` + strings.Repeat("a", 40) + `","repo`},
		"T26: a key in two cases": {"push", `{"after":"` + strings.Repeat("a", 40) + `","AFTER":"` +
			strings.Repeat("b", 40) + `",` + repo + `}`},
		"T26: a key of another case": {"push", `{"ref":"x","ſha":"","SHA":"` + strings.Repeat("b", 40) + `",` + repo + `}`},
	} {
		_, err := c.ReadEvent(test[0], []byte(test[1]))
		if trouble(err).Kind != forge.KindAnswer {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = c.ReadEvent("push", make([]byte, forge.MaxEvent+1))
	if trouble(err).Kind != forge.KindTooLarge {
		t.Errorf("%v", err)
	}
}

// TestActionsOfEvents: the actions of GitHub's that TestHooks lacks are ours, or empty.
func TestActionsOfEvents(t *testing.T) {
	commit := strings.Repeat("a", 40)
	run := `{"head_sha":"` + commit + `","name":"lint","pull_requests":[{"number":3,"base":{"repo":{"id":1}}}]}`
	for of, want := range map[string]string{
		"pull_request opened":                   forge.ActionOpened,
		"pull_request ready_for_review":         forge.ActionReady,
		"pull_request converted_to_draft":       "",
		"pull_request auto_merge_enabled":       "", // fault 7
		"pull_request_review_thread resolved":   forge.ActionResolved,
		"pull_request_review_thread unresolved": forge.ActionReopenedTalk,
		"pull_request_review submitted":         forge.ActionCreated,
		"pull_request_review dismissed":         forge.ActionEdited,
		"check_suite completed":                 forge.ActionCompleted,
		"check_run created":                     forge.ActionPending,
	} {
		name, action, _ := strings.Cut(of, " ")
		e, err := public(t).ReadEvent(name, fmt.Appendf(nil, `{"action":%q,"pull_request":{"number":3,"head":{"sha":%q}},
			"check_suite":%s,"check_run":%s,"sender":{"id":7,"login":"acme-bot[bot]","type":"Bot"},
			"repository":{"id":1,"full_name":"acme/shop","html_url":"https://github.com/acme/shop"}}`, action, commit, run, run))
		if err != nil || e.Action != want || e.Head != commit || len(e.Pulls) != 1 || e.Pulls[0] != 3 || !e.Sender.Bot ||
			name == "check_run" && e.Check != "lint" {
			t.Errorf("%s: %+v, %v", of, e, err)
		}
	}
}

// FuzzReadEvent: whatever comes, there is an event or an error of the forge, and what
// it names can be asked for.
func FuzzReadEvent(f *testing.F) {
	for name, all := range examples(f) {
		f.Add(name, string(all[0]))
	}
	c := public(f)
	f.Fuzz(func(t *testing.T, event, payload string) {
		e, err := c.ReadEvent(event, []byte(payload))
		var fault *forge.Error
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("%T", err)
		}
		if err == nil && !e.Repo.IsZero() && c.CheckRepo(e.Repo) != nil || e.Head != "" && !git.IsObjectID(e.Head) {
			t.Errorf("%+v", e)
		}
		for _, n := range e.Pulls {
			if n <= 0 {
				t.Errorf("%v", e.Pulls)
			}
		}
	})
}

// TestCommentEvents: events of kinds and actions that the examples lack tell which comment was created, edited or
// deleted.
func TestCommentEvents(t *testing.T) {
	c := public(t)
	const repo = `"repository": {"full_name": "a/b", "html_url": "https://github.com/a/b"}`
	const user = `"user": {"id": 5, "login": "bo", "type": "User"}`
	for _, test := range []struct {
		name, payload string
		want          forge.CommentAction
		body          string
	}{
		{"issue_comment", `{"action": "edited", "issue": {"number": 7, "title": "T", "pull_request": {}}, "comment": {"id": 9, "body": "why?", ` + user + `,
			"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-02T00:00:00Z", "author_association": "MEMBER"}, ` + repo + `}`, forge.CommentEdited, "why?"},
		{"pull_request_review", `{"action": "submitted", "review": {"id": 9, "body": "no", "submitted_at": "2026-01-01T00:00:00Z", ` + user + `},
			"pull_request": {"number": 7, "title": "T"}, ` + repo + `}`, forge.CommentCreated, "no"},
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
		if len(e.Comments) != 1 || e.Comments[0].Action != test.want || e.Comments[0].ID != "9" ||
			e.Comments[0].Number != 7 || string(e.Comments[0].Body) != test.body {
			t.Errorf("%s: %+v", test.payload, e.Comments)
		}
	}
}
