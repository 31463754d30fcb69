package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// rename makes octo/app team/store.
func (s *prStage) rename() {
	s.t.Helper()
	world := s.door.stage.World
	world.Change(func() { world.Rename(world.Repo("octo", "app"), "team", "store") })
	origin := filepath.Join(s.home, "forge", "team", "store.git")
	if err := errors.Join(os.MkdirAll(filepath.Dir(origin), 0o750), os.Rename(s.origin, origin)); err != nil {
		s.t.Fatal(err)
	}
	s.origin = origin
}

// TestRenamedRepository: a clone whose remote has the former name of a repository is
// followed to the present one, with what its memory and the forge have of it.
func TestRenamedRepository(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*prStage) (pages string){
		"GitHub": func(s *prStage) string { return "/pull/7" },
		"Gitea": func(s *prStage) string {
			s.toGitea(forgetest.Gitea127)
			return "/pulls/7"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPRStage(t)
			page := prepare(s)
			s.app.env["PRECEDENT_MARKER_KEY"] = strings.Repeat("a key of its own ", 3)
			clone := filepath.Join(s.home, "clone")
			s.git(s.home, "clone", "-q", s.origin, clone)
			s.git(clone, "remote", "set-url", "origin", s.door.URL+"/octo/app.git")
			s.app.dir = clone
			if status, said := s.run("pr", "7", "--post"); status != precedent.ExitFindings {
				t.Fatalf("status %d\n%s", status, said)
			}
			before := len(s.shown(forge.OnLine))

			s.rename()
			same := func(when string) {
				t.Helper()
				if n, m := len(s.shown(forge.OnLine)), len(s.shown(forge.OnThread)); before == 0 || n != before || m != 1 {
					t.Errorf("%s: %d remarks after %d, %d summaries\n%s", when, n, before, m, s.err.String())
				}
			}
			status, said := s.run("pr", "7", "--post")
			if status != precedent.ExitFindings || !strings.Contains(said, "was reviewed already") || !strings.Contains(said, "/octo/app is called ") {
				t.Errorf("the memory did not follow: status %d\n%s", status, said)
			}
			if status, said = s.run("pr", "7", "--post", "--again"); status != precedent.ExitFindings {
				t.Errorf("again: status %d\n%s", status, said)
			}
			same("by the former name")
			s.git(clone, "remote", "set-url", "origin", s.door.URL+"/team/store.git")
			if status, said = s.run("pr", "7", "--post"); !strings.Contains(said, "was reviewed already") || strings.Contains(said, "is called") {
				t.Errorf("by the present name: status %d\n%s", status, said)
			}
			// Who has no memory of it recognizes the comments, which are signed by the number.
			s.app.dir = filepath.Join(s.home, "away")
			if status, said = s.run("pr", s.door.URL+"/team/store"+page, "--post"); status != precedent.ExitFindings {
				t.Errorf("without memory: status %d\n%s", status, said)
			}
			same("without memory")
		})
	}
}
