package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
)

// hooksVariable names a copy of the examples; without it scripts/testhooks.sh puts
// one into .tools.
const hooksVariable = "PRECEDENT_TEST_WEBHOOKS"

// examples are GitHub's own of each event.
func examples(t testing.TB) map[string][]json.RawMessage {
	t.Helper()
	data, err := os.ReadFile(needs.File(t, hooksVariable, "hooks/index.json", "GitHub's examples of webhooks"))
	if err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(data, &events); err != nil {
		t.Fatal(err)
	}
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
	c, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestExamplesOfEvents: every example of GitHub's is understood, or ignored.
func TestExamplesOfEvents(t *testing.T) {
	c := public(t)
	count := map[Event]int{}
	for name, all := range examples(t) {
		for i, payload := range all {
			h, err := c.Decode(name, payload)
			if err != nil {
				t.Errorf("%s %d: %v", name, i, err)
				continue
			}
			count[h.Event]++
			if h.Event == Ignored {
				if d := cmp.Diff(Happened{}, h); d != "" {
					t.Errorf("%s %d: something is told of an event that is ignored: %s", name, i, d)
				}
				continue
			}
			if string(h.Event) != name || h.Sender.ID == "" || h.Sender.Login == "" {
				t.Errorf("%s %d: %s by %+v", name, i, h.Event, h.Sender)
			}
			if h.Event != Ping && h.Event != Installation && (h.Repo.Host != "github.com" || h.Repo.Owner == "" || h.Repo.Name == "" || h.At.IsZero()) {
				t.Errorf("%s %d: of %s at %s", name, i, h.Repo, h.At)
			}
			switch h.Event {
			case PullRequest, Review, ReviewComment, IssueComment:
				if len(h.Pulls) != 1 || h.Pulls[0] <= 0 || h.Action == "" {
					t.Errorf("%s %d: %q of %v", name, i, h.Action, h.Pulls)
				}
			case CheckSuite, CheckRun, Status, WorkflowRun:
				if !objectID().MatchString(h.Head.SHA) {
					t.Errorf("%s %d: commit %q", name, i, h.Head.SHA)
				}
			case Installation:
				if h.Installation <= 0 {
					t.Errorf("%s %d: no installation", name, i)
				}
			}
			if said := h.Event == ReviewComment || h.Event == IssueComment; said && (h.Comment == nil || h.Comment.ID == "" || h.Comment.Author.ID == "") {
				t.Errorf("%s %d: said %+v", name, i, h.Comment)
			}
		}
	}
	for _, e := range []Event{PullRequest, Review, ReviewComment, CheckSuite, CheckRun, Status, Push, WorkflowRun, Installation, Ping} {
		if count[e] == 0 {
			t.Errorf("no example of %s was understood", e)
		}
	}
}

// TestEventsInFull: what is told of one event of each form.
func TestEventsInFull(t *testing.T) {
	c := public(t)
	all := examples(t)
	hello := precedent.Repo{Host: "github.com", Owner: "Codertocat", Name: "Hello-World"}
	cat := forge.Person{ID: "21031067", Login: "Codertocat"}
	const clone = "https://github.com/Codertocat/Hello-World.git"
	for _, test := range []struct {
		event string
		want  Happened
	}{
		{"pull_request", Happened{Event: PullRequest, Pulls: []int{2}, Head: forge.Branch{Repo: hello, Name: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", CloneURL: clone}}},
		{"pull_request_review_comment", Happened{Event: ReviewComment, Pulls: []int{2}, Head: forge.Branch{Repo: hello, Name: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", CloneURL: clone}}},
		{"check_suite", Happened{Event: CheckSuite, Pulls: []int{2}, Head: forge.Branch{Name: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"}}},
		{"check_run", Happened{Event: CheckRun, Pulls: []int{2}, Head: forge.Branch{Name: "changes", SHA: "ec26c3e57ca3a959ca5aad62de7213c562f8c821"}}},
	} {
		found := false
		for _, payload := range all[test.event] {
			h, err := c.Decode(test.event, payload)
			if err != nil || h.Repo != hello || h.Sender != cat || len(h.Pulls) == 0 {
				continue
			}
			found = true
			if test.want.Event == ReviewComment {
				m := h.Comment
				if m == nil || m.Kind != forge.OnLine || m.Span.Path != "README.md" || m.Review == "" || m.Commit == "" || !strings.HasPrefix(m.URL, "https://github.com/") {
					t.Errorf("said %+v", m)
				}
			}
			h.Repo, h.Sender, h.Action, h.At, h.Comment, h.Installation = precedent.Repo{}, forge.Person{}, "", time.Time{}, nil, 0
			if d := cmp.Diff(test.want, h); d != "" {
				t.Errorf("%s (-want +got):\n%s", test.event, d)
			}
			break
		}
		if !found {
			t.Errorf("no example of %s is told in full", test.event)
		}
	}
}

// TestOddEvents: comments on issues are ignored, on pull requests not; what cannot
// be true is an error.
func TestOddEvents(t *testing.T) {
	c := public(t)
	const repo = `"repository":{"id":1,"full_name":"acme/shop","html_url":"https://github.com/acme/shop"},"sender":{"id":7,"login":"ann"}`
	const said = `"comment":{"id":5,"body":"/precedent","user":{"id":7,"login":"ann"},"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:05:05Z"}`
	h, err := c.Decode("issue_comment", []byte(`{"action":"created","issue":{"number":3,"pull_request":{"url":"x"}},`+said+`,`+repo+`}`))
	if err != nil || len(h.Pulls) != 1 || h.Pulls[0] != 3 || h.Comment == nil || h.Comment.Body != "/precedent" || h.At.Minute() != 5 || h.Sender.ID != "7" {
		t.Errorf("%+v, %v", h, err)
	}
	for name, payload := range map[string]string{
		"issue_comment": `{"action":"created","issue":{"number":3},` + said + `,` + repo + `}`,
		"star":          `{`,
		"":              `{}`,
	} {
		if h, err := c.Decode(name, []byte(payload)); err != nil || h.Event != Ignored {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	h, err = c.Decode("push", []byte(`{"ref":"refs/heads/x","after":"`+strings.Repeat("0", 40)+`",`+repo+`}`))
	if err != nil || h.Head.SHA != "" || h.Head.Name != "x" {
		t.Errorf("a branch that is deleted: %+v, %v", h, err)
	}
	// Another repository has the same commit in a pull request of its own.
	h, err = c.Decode("check_run", []byte(`{"check_run":{"head_sha":"`+strings.Repeat("a", 40)+`","check_suite":{"head_branch":"b"},
		"pull_requests":[{"number":9,"base":{"repo":{"id":2}}},{"number":4,"base":{"repo":{"id":1}}}]},`+repo+`}`))
	if err != nil || len(h.Pulls) != 1 || h.Pulls[0] != 4 || h.Head.Name != "b" {
		t.Errorf("%+v, %v", h, err)
	}
	for name, test := range map[string][2]string{
		"no JSON":                      {"push", `{`},
		"a list":                       {"push", `[]`},
		"no repository":                {"push", `{}`},
		"another forge":                {"push", `{"repository":{"full_name":"acme/shop","html_url":"https://evil.example/acme/shop"}}`},
		"a path":                       {"push", `{"repository":{"full_name":"acme/..","html_url":"https://github.com/acme/shop"}}`},
		"no pull request":              {"pull_request", `{` + repo + `}`},
		"a pull request of nothing":    {"pull_request", `{"pull_request":{},` + repo + `}`},
		"no commit":                    {"pull_request", `{"pull_request":{"number":1,"head":{"sha":"main"}},` + repo + `}`},
		"an option for a commit":       {"status", `{"sha":"--x",` + repo + `}`},
		"no check":                     {"check_run", `{` + repo + `}`},
		"a check of no pull request":   {"check_run", `{"check_run":{"pull_requests":[{"number":-1,"base":{"repo":{"id":1}}}]},` + repo + `}`},
		"a workflow of a path":         {"workflow_run", `{"workflow_run":{"head_repository":{"name":"..","owner":{"login":"a"}}},` + repo + `}`},
		"a comment that is none":       {"issue_comment", `{"issue":{"number":3,"pull_request":{}},"comment":{},` + repo + `}`},
		"a comment of another form":    {"issue_comment", `{"issue":{"number":3,"pull_request":{}},"comment":[],` + repo + `}`},
		"no inline comment":            {"pull_request_review_comment", `{"pull_request":{"number":1,"head":{"sha":"` + strings.Repeat("a", 40) + `"}},` + repo + `}`},
		"number that is no number":     {"pull_request", `{"pull_request":{"number":"1"},` + repo + `}`},
		"times that are no times":      {"status", `{"updated_at":"x",` + repo + `}`},
		"a repository of another form": {"push", `{"repository":"acme/shop"}`},
	} {
		_, err := c.Decode(test[0], []byte(test[1]))
		var e *forge.Error
		if !errors.As(err, &e) || e.Kind != forge.KindAnswer {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = c.Decode("push", make([]byte, maxPayload+1))
	var e *forge.Error
	if !errors.As(err, &e) || e.Kind != forge.KindTooLarge {
		t.Errorf("%v", err)
	}
}

// FuzzDecode: whatever comes, there is an event or an error of the forge, and what
// it names can be asked for.
func FuzzDecode(f *testing.F) {
	for name, all := range examples(f) {
		f.Add(name, string(all[0]))
	}
	c := public(f)
	f.Fuzz(func(t *testing.T, event, payload string) {
		h, err := c.Decode(event, []byte(payload))
		var e *forge.Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("%T", err)
		}
		if err == nil && !h.Repo.IsZero() && c.check(h.Repo) != nil || h.Head.SHA != "" && !objectID().MatchString(h.Head.SHA) {
			t.Errorf("%+v", h)
		}
		for _, n := range h.Pulls {
			if n <= 0 {
				t.Error(fmt.Sprint(h.Pulls))
			}
		}
	})
}
