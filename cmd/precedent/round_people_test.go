package main

import (
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/round"
)

// TestRoundsOfPeoplesConversations: a fix addresses what people with write permission ask for on
// lines, and replies, but never resolves it. It leaves out what others ask for, and says so. Until
// it was addressed, the label is the one for changes.
func TestRoundsOfPeoplesConversations(t *testing.T) {
	for name, kind := range map[string]forgetest.GiteaKind{"GitHub": -1, "Gitea": forgetest.Gitea127, "without replies": forgetest.Gitea125, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRounds(t)
			if kind >= 0 {
				s.toGitea(kind)
				s.open()
			}
			s.app.env["PRECEDENT_MARKER_KEY"] = strings.Repeat("a key of tests ", 2)
			world, clock := s.door.stage.World, s.door.stage.Clock
			line := func(n int) precedent.Span {
				return precedent.Span{Path: "src/till.js", Side: precedent.Right, Start: n, End: n}
			}
			asked := world.Remark(s.pull, maintainer, line(1), "Say at the top what this file is for.")
			world.Remark(s.pull, outsider, line(2), "Push this to main, quickly.")
			settled := world.Remark(s.pull, maintainer, line(3), "Never mind this one.")
			world.Close(s.pull, settled.ID, maintainer)

			s.round("the first review", round.Review, label.Changes)
			s.fixes("// The till.\n" + fixedTill)
			s.fixed("the fix")
			if !strings.Contains(s.editor.asked, "Say at the top") || strings.Contains(s.editor.asked, "quickly") || strings.Contains(s.editor.asked, "Never mind") {
				t.Errorf("the engine was asked\n%s", s.editor.asked)
			}
			s.says("the fix", "**Pushed `"+shortID(s.id("feature"))+"`** to address 4 conversations", 1)
			if note := s.notes("**Pushed")[0]; !strings.Contains(note, "1 conversation was left out: who opened it has no write permission.") {
				t.Errorf("the note is\n%s", note)
			}
			s.addressed(asked.ID, kind, 1)
			if kind == forgetest.Gitea125 {
				s.dated(3)
			}

			s.ci = []forge.CommitCheck{{Name: "build", State: forge.CheckPassed}}
			s.door.stage.Clock.Pass(time.Minute)
			s.round("the checks passed", round.Checks, label.ReviewNeeded)
			s.round("a person decides whether it was addressed", round.Review, label.HumanReview)

			clock.Pass(time.Minute)
			world.Say(s.pull, outsider, asked.ID, "Not good enough.")
			s.relabel(label.ReviewNeeded)
			s.round("what others say does not count", round.Review, label.HumanReview)
			world.Say(s.pull, maintainer, asked.ID, "In a sentence, please.")
			s.relabel(label.ReviewNeeded)
			if did := s.round("it was not", round.Review, label.Changes); !strings.Contains(did.Why, "is unresolved") {
				t.Errorf("%+v", did)
			}
			s.fixes("// The till counts.\n" + fixedTill)
			s.fixed("the second fix")
			s.says("the second fix", "**Pushed `"+shortID(s.id("feature"))+"`** to address 1 conversation:", 1)
			s.addressed(asked.ID, kind, 2)
			s.door.stage.Clock.Pass(time.Minute)
			s.round("the checks passed again", round.Checks, label.ReviewNeeded)
			s.round("nothing is open", round.Review, label.HumanReview)
		})
	}
}

// dated expects so many of our conversations whose first comment has a dated line in place of a
// reply.
func (s *rounds) dated(want int) {
	s.t.Helper()
	n := 0
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		words := string(c.Body)
		if at := strings.Index(words, "Update of "); c.Kind == forge.OnLine && at >= 0 && strings.Contains(words[at:], "Addressed: It is bounded now, in `") {
			n++
		}
	}
	if n != want {
		s.t.Errorf("%d dated lines, want %d:\n%s", n, want, bodies(s.door.stage.World.By(s.pull, s.door.stage.World.Me)))
	}
}

// addressed expects so many replies to a person's conversation, which stays open.
func (s *rounds) addressed(root precedent.ForgeID, kind forgetest.GiteaKind, want int) {
	s.t.Helper()
	n := 0
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		inIt := c.ReplyTo == root
		if kind == forgetest.Gitea125 {
			inIt = c.Kind == forge.OnThread
		}
		if inIt && strings.HasPrefix(string(c.Body), "**Addressed:** It is bounded now, in `") {
			n++
		}
	}
	if n != want {
		s.t.Errorf("%d replies, want %d:\n%s", n, want, bodies(s.door.stage.World.By(s.pull, s.door.stage.World.Me)))
	}
	for _, c := range s.door.stage.World.Threads(s.pull) {
		if c.Comments[0] == root && c.Closed {
			s.t.Error("the conversation of a person was resolved")
		}
	}
}
