package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRealGiteaMails counts the mails of a first review, and of a round with six questions in
// conversations and two commands, on a Gitea that sends its mails to PRECEDENT_TEST_GITEA_SMTP.
func TestRealGiteaMails(t *testing.T) {
	t.Parallel()
	address := os.Getenv("PRECEDENT_TEST_GITEA_SMTP")
	if address == "" {
		t.Skip("needs a running Gitea that sends its mails to PRECEDENT_TEST_GITEA_SMTP=HOST:PORT")
	}
	s := newServeStory(t, "timed", onRealGitea, ungated+oneFinder)
	box := s.door.stage.Mailbox(t, address)
	s.app.env["PRECEDENT_FIXES"] = "false"
	people := []forge.Person{author, maintainer, outsider}
	for _, who := range people {
		s.real.Comment(who, "I follow this.")
	}
	rest := func() { // mails are sent some time after the request
		last, since := -1, time.Now()
		needs.WaitUntil(t, "the last mail", func() bool {
			n := 0
			for _, who := range people {
				n += box.To(s.real.Address(who))
			}
			if n != last {
				last, since = n, time.Now()
			}
			return time.Since(since) > 3*time.Second
		})
	}
	count := func() map[string]int {
		rest()
		all := map[string]int{}
		for _, who := range people {
			all[who.Login] = box.To(s.real.Address(who))
		}
		return all
	}
	more := func(step string, before map[string]int, most int) {
		t.Helper()
		for login, n := range count() {
			t.Logf("mails: %s: %d to %s", step, n-before[login], login)
			if n-before[login] > most {
				t.Errorf("%s: %d mails to %s, want at most %d", step, n-before[login], login, most)
			}
		}
	}
	before := count()
	s.real.Comment(maintainer, "@precedent help")
	for login := range before {
		if login != maintainer.Login {
			before[login]++
		}
	}
	s.once("review", label.Changes)
	more("the first review, which answers a command", before, 2)
	var roots []forge.Comment
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		if c.Kind == forge.OnLine {
			roots = append(roots, c)
		}
	}
	if len(roots) == 0 {
		t.Fatal("no conversation")
	}
	for n := range 6 {
		s.real.Join(maintainer, roots[n%len(roots)], "@precedent explain why you flagged this")
	}
	s.real.Comment(maintainer, "@precedent list my preferences")
	s.real.Comment(maintainer, "@precedent help")
	before = count()
	s.once("answers")
	more("six answers in conversations and two to commands", before, 1)
	answers := 0
	for _, c := range s.answers() {
		m, _ := (comment.Writer{}).Read(string(c.Body))
		answers += strings.Count(m.Answers, "_") + 1
	}
	if want := 8; answers != want {
		t.Errorf("%d answers, want %d", answers, want)
	}
	before = count()
	s.quiet("all are answered")
	more("nothing", before, 0)
}
