package main

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/label"
)

// TestRealGitea plays stories on a Gitea or Forgejo that runs elsewhere: make soak.
func TestRealGitea(t *testing.T) {
	t.Parallel()
	for name, story := range map[string]func(*serveStory){
		"fix": func(s *serveStory) { s.play(len(flaws), fixedTill) },
		"push": func(s *serveStory) {
			s.app.env["PRECEDENT_FIXES"] = "false"
			s.once("review", label.Changes)
			s.says("review", "## Precedent", 1)
			if all := s.threads(); len(all) != len(flaws) {
				s.t.Errorf("threads %v", all)
			}
			s.quiet("the author's turn")
			s.push("Fix", map[string]string{"src/till.js": fixedTill})
			s.sets(label.ReviewNeeded)
			s.once("review of the push", label.HumanReview)
			s.says("review of the push", "## Precedent: clean, no findings", 1)
			s.says("review of the push", "## Precedent", 1)
			for name, state := range s.threads() {
				if state != "closed" && s.closes() {
					s.t.Errorf("%s is %s", name, state)
				}
			}
			s.quiet("a person's turn")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			story(newServeStory(t, "timed", onRealGitea, ungated+oneFinder))
		})
	}
}
