package main

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
)

// TestServeOnce: serve --once finds a pull request, reviews it, and does nothing when it looks
// again.
func TestServeOnce(t *testing.T) {
	s := newShopPull(t)
	s.door.stage.World.Change(func() { s.pull.Labels = append(s.pull.Labels, "bot-review-needed") })
	serve := func() {
		t.Helper()
		s.err.Reset()
		if status := s.app.run(t.Context(), []string{"serve", "--once", "--repositories", s.repoName()}); status != 0 {
			t.Fatalf("status %d\n%s", status, s.err.String())
		}
	}
	serve()
	if n := len(s.shown(forge.OnLine)); n != 3 {
		t.Fatalf("%d comments\n%s", n, s.err.String())
	}
	before := len(s.door.stage.Script.Requests())
	serve()
	if n := len(s.shown(forge.OnLine)); n != 3 {
		t.Errorf("%d comments after another look", n)
	}
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Writes() {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
}

// repoName is the repository as --repositories takes it.
func (s *prStage) repoName() string { return s.door.URL[len("http://"):] + "/octo/app" }
