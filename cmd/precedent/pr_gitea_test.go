package main

import (
	"net/http"
	"path/filepath"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// toGitea moves the pull request to a server of Gitea's family.
func (s *prStage) toGitea(kind forgetest.GiteaKind) *forgetest.Gitea {
	s.t.Helper()
	s.door = &frontDoor{stage: forgetest.NewStage(s.t), token: forgetest.Secret}
	g := s.door.stage.Gitea(s.t)
	g.Kind = kind
	s.door.open(s.t, filepath.Join(s.home, "forge"), g.URL)
	g.URL = s.door.URL
	s.pull = s.door.add(s.id("main"), s.id("refs/pull/7/head"), s.git(s.origin, "diff", "main...refs/pull/7/head")+"\n")
	delete(s.app.env, "GITHUB_API_URL")
	delete(s.app.env, "GH_TOKEN")
	s.app.env["GITEA_TOKEN"] = forgetest.Secret
	s.app.env["PRECEDENT_FORGE"] = "gitea:" + s.door.URL
	s.app.sleep = s.door.stage.Clock.Sleep
	return g
}

// run runs precedent and returns its exit status and what it said.
func (s *prStage) run(args ...string) (int, string) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	status := s.app.run(s.t.Context(), args)
	return status, s.err.String()
}

// writes are the requests after the first so many that change something.
func (s *prStage) writes(after int) []string {
	var all []string
	for _, r := range s.door.stage.Script.Requests()[after:] {
		if r.Method != http.MethodGet {
			all = append(all, r.Method+" "+r.Path)
		}
	}
	return all
}
