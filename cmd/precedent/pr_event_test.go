package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// event makes the workflow run for an event.
func (s *prStage) event(name, payload string) {
	s.t.Helper()
	path := filepath.Join(s.home, "event.json")
	writeFile(s.t, path, payload, 0o600)
	s.app.env["GITHUB_EVENT_PATH"], s.app.env["GITHUB_EVENT_NAME"] = path, name
}

// which finds the pull request of the event.
func (s *prStage) which() (string, error) {
	s.t.Helper()
	s.err.Reset()
	repo, n, _, err := s.app.whichPull(s.t.Context(), s.connection(), "")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s#%d", strings.TrimPrefix(repo.String(), repo.Host+"/"), n), nil
}

// isAbout expects the pull request that the event is about, or, if it is empty, why there is none, with a hint.
func (s *prStage) isAbout(event, want, says string) {
	s.t.Helper()
	got, err := s.which()
	if got != want || (err == nil) != (want != "") {
		s.t.Errorf("%s: %q, %v, want %q", event, got, err, want)
	} else if err != nil && (!strings.Contains(err.Error(), says) || hintOf(err) == "") {
		s.t.Errorf("%s: %v, hint %q, want %q", event, err, hintOf(err), says)
	}
}

// payload is an event's, with what GitHub and Gitea tell of a repository.
func (s *prStage) payload(about string) string {
	return fmt.Sprintf(`{"action": "x", %s, "repository": {"id": 1, "full_name": "octo/app", "html_url": %q}, "sender": {"id": 11, "login": "newcomer"}}`, about, s.door.URL+"/octo/app")
}

// TestPullOfAnEvent: what an event is about; if it is about no pull request, or cannot be an event's file, that is said
// with a hint.
func TestPullOfAnEvent(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	run := func(sha, pulls string) string {
		return fmt.Sprintf(`"workflow_run": {"head_sha": %q, "head_branch": "main", "pull_requests": [%s]}`, sha, pulls)
	}
	pull := fmt.Sprintf(`"pull_request": {"number": 7, "head": {"ref": "main", "sha": %q, "repo": null}}`, s.id("feature"))
	gone := strings.Repeat("ab", 20)
	for _, test := range []struct {
		name, event, payload string
		want                 string // empty if there is none
		says                 string
	}{
		{"pull request", "pull_request", s.payload(pull), "octo/app#7", ""},
		{"workflow of a fork", "workflow_run", s.payload(run(s.id("feature"), "")), "octo/app#7", ""},
		{"workflow of two", "workflow_run", s.payload(run(s.id("feature"), `{"number": 7, "base": {"repo": {"id": 1}}}, {"number": 8, "base": {"repo": {"id": 1}}}`)), "", "is about 2 open pull requests"},
		{"push", "push", s.payload(fmt.Sprintf(`"ref": "refs/heads/feature", "after": %q`, s.id("feature"))), "octo/app#7", ""},
		{"no JSON", "pull_request", "{", "", "does not match the API of GitHub"},
		{"another forge", "pull_request", strings.ReplaceAll(s.payload(pull), s.door.URL, "https://github.com"), "", "names no repository on 127.0.0.1"},
	} {
		s.event(test.event, test.payload)
		s.isAbout(test.name, test.want, test.says)
	}

	s.event("workflow_run", s.payload(run(gone, "")))
	var status exitStatus
	if got, err := s.which(); !errors.As(err, &status) || status != precedent.ExitClean || !strings.Contains(s.err.String(), "abababababab as its head any more") {
		t.Errorf("a head that is gone: %s, %v\n%s", got, err, s.err.String())
	}
	world := s.door.stage.World
	second := &forgetest.Pull{PullRequest: s.pull.PullRequest}
	second.Number, second.Ref = 8, "refs/pull/8/head"
	world.Change(func() { world.Repo("octo", "app").Pulls[8] = second })
	s.event("workflow_run", s.payload(run(s.id("feature"), "")))
	s.isAbout("two have the head", "", "is about 2 open pull requests")
	world.Change(func() { second.State = forge.Closed })
	s.isAbout("one of them is closed", "octo/app#7", "")

	s.event("pull_request", strings.Repeat(" ", 26<<20))
	s.isAbout("26 MiB", "", "larger than 25 MiB")
	for _, path := range []string{filepath.Join(s.home, "nothing.json"), s.home} {
		s.app.env["GITHUB_EVENT_PATH"] = path
		s.isAbout(path, "", "read event: ")
	}
	delete(s.app.env, "GITHUB_EVENT_PATH")
	s.isAbout("no event", "", "no pull request is given")
}
