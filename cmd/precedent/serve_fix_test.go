package main

import (
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/queue"
)

// serves runs serve --once, with more arguments.
func (s *rounds) serves(args ...string) {
	s.t.Helper()
	s.err.Reset()
	if status := s.app.run(s.t.Context(), append([]string{"serve", "--once", "--repositories", s.repoName()},
		args...)); status != 0 {
		s.t.Fatalf("status %d\n%s", status, s.err.String())
	}
}

// asked is a pull request without a label, reviewed by a server that lets people ask for fixes.
func asked(t *testing.T, policy string, texts ...string) *rounds {
	t.Helper()
	s := newRounds(t)
	s.base(policy)
	s.relabel(label.None)
	s.editor.texts = texts
	s.serves("--reviews", "open")
	if len(s.shown(forge.OnLine)) == 0 {
		t.Fatalf("no review\n%s", s.err.String())
	}
	return s
}

// told counts our comments that hold the words.
func (s *rounds) told(words string) (n int) {
	for _, c := range s.door.stage.World.By(s.pull, forgetest.Bot) {
		if strings.Contains(string(c.Body), words) {
			n++
		}
	}
	return n
}

// pushes is the number of commits that were pushed for fixes.
func (s *rounds) pushes() int { return len(s.door.git.Pushes()) }

// TestServeFixAsked: a person with write permission asks for a fix in a comment; the server makes one
// round and says how it ended. Nothing is pushed twice, and the labels stay as they are.
func TestServeFixAsked(t *testing.T) {
	t.Run("pushed", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill, fixedTill+"// again\n")
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		if s.pushes() != 1 || len(s.notes("**Pushed")) != 1 || s.told("A fix round follows") != 1 {
			t.Fatalf("%d pushes\n%s", s.pushes(), s.err.String())
		}
		s.labelled("after the fix", label.None)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix") // what was pushed is not reviewed yet
		s.serves()
		s.serves()
		if s.pushes() != 1 || len(s.notes("**Pushed")) != 1 {
			t.Errorf("asked again: %d pushes", s.pushes())
		}
		if fixes := s.jobsOf(queue.Fix); len(fixes) != 1 || fixes[0].State != queue.Done {
			t.Errorf("jobs %+v", fixes)
		}
	})
	t.Run("in the conversation of a finding", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill)
		s.door.stage.World.Say(s.pull, maintainer, s.shown(forge.OnLine)[0].ID, "fix")
		s.serves()
		if s.pushes() != 1 {
			t.Errorf("%d pushes\n%s", s.pushes(), s.err.String())
		}
	})
	t.Run("with the label", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill, fixedTill+"// twice\n")
		s.relabel(label.Changes)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		s.serves()
		if s.pushes() != 1 || len(s.notes("**Pushed")) != 1 {
			t.Errorf("%d pushes\n%s", s.pushes(), s.err.String())
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill)
		s.withoutSay()
		s.door.stage.World.Say(s.pull, author, "", "@precedent fix")
		s.door.stage.World.Say(s.pull, dana, "", "@precedent fix")
		s.serves()
		if n := s.told("Asking for a fix needs write permission."); n != 1 { // dana, a stranger, is told whom it is for
			t.Errorf("%d answers\n%s", n, s.err.String())
		}
		s.app.env["PRECEDENT_FIXES"] = "false"
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		if n := s.told("Nothing is fixed on request here"); n != 1 {
			t.Errorf("without fixes: %d answers\n%s", n, s.err.String())
		}
		delete(s.app.env, "PRECEDENT_FIXES")
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent pause")
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		if n := s.told("Nothing is fixed, because"); n != 1 {
			t.Errorf("paused: %d answers\n%s", n, s.err.String())
		}
		if s.pushes() != 0 || len(s.jobsOf(queue.Fix)) != 0 {
			t.Errorf("%d pushes", s.pushes())
		}
	})
	t.Run("the policy refuses", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {enabled: false}\n", fixedTill)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		s.serves()
		if s.pushes() != 0 || len(s.notes("**Nothing was fixed**")) != 1 ||
			!strings.Contains(s.notes("**Nothing was fixed**")[0], "turns fixes off") {
			t.Errorf("%d pushes\n%s", s.pushes(), s.err.String())
		}
	})
	t.Run("the gate is skipped", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "threshold: 75\n", fixedTill)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		if s.pushes() != 0 || len(s.notes("**Nothing was fixed**")) != 1 {
			t.Errorf("%d pushes\n%s", s.pushes(), s.err.String())
		}
	})
}
