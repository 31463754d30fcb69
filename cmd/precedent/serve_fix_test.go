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
	status, said := s.run(append([]string{"serve", "--once", "--repositories", s.repoName()}, args...)...)
	if status != 0 {
		s.t.Fatalf("status %d\n%s", status, said)
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

// pushedOnce expects one commit that was pushed for a fix, and one comment about it.
func (s *rounds) pushedOnce() {
	s.t.Helper()
	if n := len(s.door.git.Pushes()); n != 1 || len(s.notes("**Pushed")) != 1 {
		s.t.Fatalf("%d pushes\n%s", n, s.err.String())
	}
}

// TestServeFixAsked: a person with write permission asks for a fix in a comment; the server makes one
// round and says how it ended. Nothing is pushed twice, and the labels stay as they are.
func TestServeFixAsked(t *testing.T) {
	t.Run("pushed", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill, fixedTill+"// again\n")
		s.door.stage.World.Say(s.pull, maintainer, s.shown(forge.OnLine)[0].ID, "fix") // in the conversation of a finding
		s.serves()
		s.pushedOnce()
		if s.told("A fix round follows") != 1 {
			t.Errorf("it is not answered\n%s", s.err.String())
		}
		s.labelled("after the fix", label.None)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix") // what was pushed is not reviewed yet
		s.serves()
		s.serves()
		s.pushedOnce()
		if fixes := s.jobsOf(queue.Fix); len(fixes) != 1 || fixes[0].State != queue.Done {
			t.Errorf("jobs %+v", fixes)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {ungated: true}\n", fixedTill)
		s.withoutSay()
		says := func(words string, who forge.Person, orders ...string) {
			t.Helper()
			for _, order := range orders {
				s.door.stage.World.Say(s.pull, who, "", order)
			}
			s.serves()
			if n := s.told(words); n != 1 {
				t.Errorf("%q: %d times\n%s", words, n, s.err.String())
			}
		}
		s.door.stage.World.Say(s.pull, author, "", "@precedent fix")
		says("Asking for a fix needs write permission.", dana, "@precedent fix") // a stranger is told whom it is for
		s.app.env["PRECEDENT_FIXES"] = "false"
		says("Nothing is fixed on request here", maintainer, "@precedent fix")
		delete(s.app.env, "PRECEDENT_FIXES")
		says("Nothing is fixed, because", maintainer, "@precedent pause", "@precedent fix")
		if len(s.door.git.Pushes()) != 0 || len(s.jobsOf(queue.Fix)) != 0 {
			t.Errorf("pushes %+v", s.door.git.Pushes())
		}
	})
	t.Run("the policy refuses", func(t *testing.T) {
		t.Parallel()
		s := asked(t, "fix: {enabled: false}\n", fixedTill)
		s.door.stage.World.Say(s.pull, maintainer, "", "@precedent fix")
		s.serves()
		s.serves()
		s.says("the policy refuses", "**Nothing was fixed**", 1)
		s.has("the policy refuses", s.notes("**Nothing was fixed**")[0], "turns fixes off")
	})
}
