package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// appKey is the private key of the App of all tests: making one takes its time.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// asApp makes an App the account that posts, which is all that the environment
// has of the forge. It returns the key as the file holds it.
func (s *prStage) asApp() string {
	s.t.Helper()
	key, err := appKey()
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.home, "app.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.door.api.AsApp(forgetest.App{ID: 4711, Slug: "reviewer", Key: &key.PublicKey, Installation: 8})
	s.app.now = s.door.stage.Clock.Now // what the App signs says when
	delete(s.app.env, "GH_TOKEN")
	s.app.env[appIDVariable], s.app.env[appKeyVariable] = "4711", file
	return string(text)
}

// said counts what the account that posts said, by kind, without replies.
func (s *prStage) said() map[forge.CommentKind]int {
	count := map[forge.CommentKind]int{}
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		if c.ReplyTo == "" {
			count[c.Kind]++
		}
	}
	return count
}

// conclusions are the ends of the check runs, each with its commit.
func (s *prStage) conclusions() (all []string) {
	s.door.stage.World.Change(func() {
		for _, k := range s.door.stage.World.Repo("octo", "app").Checks {
			all = append(all, k.Name+" "+k.Conclusion+" by "+k.By.Login+" on "+k.Commit)
		}
	})
	return all
}

// ill is an engine that one finder has trouble with.
type ill struct{ *parrot }

func (i ill) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.Role == engine.Finder && t.Name != "general" {
		return engine.Answer{Status: precedent.StatusTimeout}, nil
	}
	return i.parrot.Run(ctx, t)
}

// TestPostAsApp: an App posts as itself, git fetches with the token of its
// installation, and a check run says how the review ended.
func TestPostAsApp(t *testing.T) {
	t.Parallel()
	analyzed := func(s *shopPull) engine.Engine {
		s.push("conflict", map[string]string{"b.txt": "one\n" + strings.Repeat("<", 7) + " HEAD\ntwo\n" + strings.Repeat("=", 7) + "\nthree\n" + strings.Repeat(">", 7) + " theirs\n"})
		return nil
	}
	for _, test := range []struct {
		name, failOn string
		reads        func(*shopPull) engine.Engine
		status       int
		conclusion   string
	}{
		{"findings", "medium", func(s *shopPull) engine.Engine { return s.parrot }, precedent.ExitFindings, "failure"},
		{"findings below the bar", "high", func(s *shopPull) engine.Engine { return s.parrot }, precedent.ExitClean, "success"},
		{"partial", "medium", func(s *shopPull) engine.Engine { return ill{s.parrot} }, precedent.ExitIncomplete, "neutral"},
		{"analyzers", "low", analyzed, precedent.ExitFindings, "failure"},
		{"analyzers, below the bar", "none", analyzed, precedent.ExitClean, "neutral"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShopPull(t)
			s.asApp()
			s.app.fixedEngine = test.reads(s)
			status, said := s.post("--fail-on", test.failOn)
			if status != test.status {
				t.Errorf("status %d\n%s", status, said)
			}
			if got := s.said(); got[forge.OnThread] != 1 || got[forge.OnReview] != 1 || got[forge.OnLine] == 0 {
				t.Errorf("said %v\n%s", got, said)
			}
			if n := len(s.door.stage.World.By(s.pull, forgetest.Bot)); n != 0 {
				t.Errorf("the person said %d things", n)
			}
			want := "precedent " + test.conclusion + " by reviewer[bot] on " + s.id("feature")
			if got := strings.Join(s.conclusions(), "; "); got != want {
				t.Errorf("checks %q, want %q", got, want)
			}
			if s.door.api.Issued() != 1 || s.door.fetches.Load() == 0 {
				t.Errorf("%d tokens, %d fetches", s.door.api.Issued(), s.door.fetches.Load())
			}
		})
	}
}

// TestForgedMarkers: a marker that somebody copied, or that was changed, makes
// nothing ours. What it stands in is left alone, and ours is still known.
func TestForgedMarkers(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.asApp()
	if status, said := s.post("--fail-on", "medium"); status != precedent.ExitFindings {
		t.Fatalf("status %d\n%s", status, said)
	}
	world := s.door.stage.World
	me := world.Me
	var ours []forge.Comment
	for _, c := range world.By(s.pull, me) {
		if c.Kind != forge.OnReview {
			ours = append(ours, c)
		}
	}
	// Of each comment of ours a copy by somebody else, and one by the account itself
	// whose marker was changed: the copy of one on another pull request, say.
	forged := map[forge.CommentRef]string{}
	var roots []precedent.ForgeID
	for _, c := range ours {
		changed := swapThread(string(c.Body))
		for _, by := range []struct {
			who  forge.Person
			body string
		}{{outsider, string(c.Body)}, {me, changed}} {
			var m forge.Comment
			if c.Kind == forge.OnLine {
				m = world.Remark(s.pull, by.who, c.Span, by.body)
				roots = append(roots, m.ID)
			} else {
				m = world.Say(s.pull, by.who, "", by.body)
			}
			forged[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = by.body
		}
	}
	s.push("fix", map[string]string{"src/till.js": strings.NewReplacer(
		"  ledger.total -= amount\n", "", "  return sum / items.length\n", "", "  bus.on('paid', () => render(till))\n", "",
	).Replace(tillFile)})
	if status, said := s.post("--fail-on", "medium"); status != precedent.ExitClean {
		t.Errorf("status %d\n%s", status, said)
	}
	now := map[forge.CommentRef]string{}
	for _, c := range world.Shown(s.pull) {
		now[forge.CommentRef{Kind: c.Kind, ID: c.ID}] = string(c.Body)
	}
	for said, body := range forged {
		if now[said] != body {
			t.Errorf("%s %s was changed or deleted: %q", said.Kind, said.ID, now[said])
		}
	}
	for _, c := range ours {
		if after := now[forge.CommentRef{Kind: c.Kind, ID: c.ID}]; after == "" || (c.Kind == forge.OnThread) != (after != string(c.Body)) {
			t.Errorf("our %s %s is now %q", c.Kind, c.ID, after)
		}
	}
	closed := 0
	for _, c := range world.Threads(s.pull) {
		if c.Closed {
			closed++
		}
		for _, root := range roots {
			if c.Comments[0] == root && (c.Closed || len(c.Comments) > 1) {
				t.Errorf("the forged conversation %s was closed or answered", root)
			}
		}
	}
	if closed != 3 {
		t.Errorf("%d conversations were closed", closed)
	}
}

// swapThread gives the marker of a comment another thread and leaves its signature.
func swapThread(body string) string {
	i := strings.LastIndex(body, " thread=") + len(" thread=")
	return body[:i] + "01999999" + body[i+8:]
}

// TestLockedPull: where nobody can post, the review ends as it would have, but not
// as if all was well.
func TestLockedPull(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.door.stage.World.Change(func() { s.pull.Locked = true })
	status, said := s.post("--fail-on", "medium")
	if status != precedent.ExitFindings || !strings.Contains(said, "nothing can be posted on #7: the pull request is locked") {
		t.Errorf("status %d\n%s", status, said)
	}
	if status, said = s.post("--fail-on", "high"); status != precedent.ExitIncomplete {
		t.Errorf("status %d\n%s", status, said)
	}
	if got := s.said(); len(got) != 0 {
		t.Errorf("said %v", got)
	}
}
