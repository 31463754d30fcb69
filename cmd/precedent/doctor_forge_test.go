package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/doctor"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
)

// forgeRow looks at the forge from a clone with a remote, none if it is empty.
func (s *prStage) forgeRow(remote string, flags map[string]string) (doctor.Check, bool) {
	s.t.Helper()
	dir := s.t.TempDir()
	s.git(dir, "init", "-q")
	if remote != "" {
		s.git(dir, "remote", "add", "origin", remote)
	}
	repo, err := git.Open(s.t.Context(), dir, s.app.gitOptions())
	if err != nil {
		s.t.Fatal(err)
	}
	defer repo.Close()
	op, err := s.app.settings(flags)
	if err != nil {
		s.t.Fatal(err)
	}
	d := doctor.New(hintOf)
	s.app.checkForge(s.t.Context(), d, op, repo)
	if n := len(d.Checks); n == 2 && s.app.env[markerKeyVariable] == "" && d.Checks[1].State == doctor.Warning && strings.Contains(d.Checks[1].Text, markerKeyVariable) {
		d.Checks = d.Checks[:1]
	}
	if !d.Works || len(d.Checks) > 1 {
		s.t.Errorf("%+v", d)
	}
	if len(d.Checks) == 0 {
		return doctor.Check{}, false
	}
	if row := d.Checks[0]; strings.Contains(row.Text+row.Hint, forgetest.Secret[4:12]) {
		s.t.Errorf("the token is shown: %+v", row)
	}
	return d.Checks[0], true
}

// TestDoctorNamesTheForge: which, as whom, and what is left; asked only with a
// token, and no review depends on it.
func TestDoctorNamesTheForge(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.door.api.Budget(4321, forgetest.Epoch.Add(time.Hour))
	ours := s.door.URL + "/octo/app.git"
	expect := func(name string, requests int, remote string, flags map[string]string, state doctor.State, says, hint string) {
		t.Helper()
		before := len(s.door.stage.Script.Requests())
		got, _ := s.forgeRow(remote, flags)
		if got.State != state || !strings.Contains(got.Text, says) || !strings.Contains(got.Hint, hint) || hint == "" && got.Hint != "" {
			t.Errorf("%s: %+v, want %s %q, hint %q", name, got, state, says, hint)
		}
		if n := len(s.door.stage.Script.Requests()) - before; n != requests {
			t.Errorf("%s: %d requests, want %d", name, n, requests)
		}
	}
	expect("a token", 1, ours, nil, doctor.OK, "(environment GITHUB_API_URL), as "+forgetest.Bot.Login+", 432", "")
	s.app.env[markerKeyVariable] = strings.Repeat("k7", 16)
	expect("a token and a marker key", 1, ours, nil, doctor.OK, "(environment GITHUB_API_URL), as "+forgetest.Bot.Login+", 43", "")
	delete(s.app.env, markerKeyVariable)
	expect("a token and a remote elsewhere", 1, "https://example.org/team/app", nil, doctor.Warning, "the clone's remote is on example.org", "--forge gitea:")
	expect("a token and no remote", 1, "", nil, doctor.OK, "as "+forgetest.Bot.Login, "")
	s.app.env["GH_TOKEN"] = "ghp_wrong"
	expect("a wrong token", 1, ours, nil, doctor.Warning, "look up the account of the token", "the token is in GITHUB_TOKEN or GH_TOKEN")
	s.app.env["GH_TOKEN"] = "a b"
	expect("no token at all", 0, ours, nil, doctor.Warning, "GITHUB_TOKEN or GH_TOKEN", "create a new one")
	s.app.env["GH_TOKEN"] = ""
	expect("without a token", 0, ours, nil, doctor.OK, "without a token: it can read public pull requests, but not post", "set GITHUB_TOKEN or GH_TOKEN")
	expect("a folder that is none", 0, ours, map[string]string{"forge": "local:" + filepath.Join(s.home, "away")}, doctor.Warning, "no repo.json", "docs/github.md")
	expect("a folder", 0, "", map[string]string{"forge": "local:" + folderForge(t)}, doctor.OK, "forge.localhost (flag --forge), as precedent", "")

	delete(s.app.env, "GITHUB_API_URL")
	expect("a clone of GitHub's", 0, "git@github.com:octo/app.git", nil, doctor.OK, "github.com (default), without a token", "GITHUB_TOKEN")
	if got, said := s.forgeRow("https://example.org/team/app", nil); said {
		t.Errorf("a clone that no forge is known for: %+v", got)
	}

	s.toGitea(forgetest.Gitea127)
	expect("Gitea", 1, s.door.URL+"/octo/app", nil, doctor.OK, "(environment PRECEDENT_FORGE), as "+forgetest.Bot.Login, "")
	s.app.env["GITEA_TOKEN"] = ""
	expect("Gitea without a token", 0, s.door.URL+"/octo/app", nil, doctor.OK, "without a token", "set GITEA_TOKEN")
	s.app.env["GITEA_TOKEN"] = forgetest.Secret
	expect("nobody there", 0, "", map[string]string{"forge": "gitea:http://127.0.0.1:1"}, doctor.Warning, "127.0.0.1:1", "network")
}
