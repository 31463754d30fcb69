package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"slices"
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

// privateKey is the file of that key as GitHub gives it, and its public part.
func privateKey(t testing.TB) (path string, public *rsa.PublicKey) {
	t.Helper()
	key, err := appKey()
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "app.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	writeFile(t, path, string(text), 0o600)
	return path, &key.PublicKey
}

// asApp makes an App the account that posts, which is all that the environment
// has of the forge. It returns the file of its key.
func (s *prStage) asApp() string {
	s.t.Helper()
	path, public := privateKey(s.t)
	s.door.api.AsApp(forgetest.App{ID: 4711, Slug: "reviewer", Key: public, Installation: 8})
	s.app.now = s.door.stage.Clock.Now // what the App signs says when
	delete(s.app.env, "GH_TOKEN")
	s.app.env[appIDVariable], s.app.env[appKeyVariable] = "4711", path
	return path
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
	for _, test := range []struct {
		name, failOn string
		reads        func(*shopPull) engine.Engine
		status       int
		conclusion   string
	}{
		{"findings", "medium", func(s *shopPull) engine.Engine { return s.parrot }, precedent.ExitFindings, "failure"},
		{"below the bar", "high", func(s *shopPull) engine.Engine { return s.parrot }, precedent.ExitClean, "success"},
		{"partial", "medium", func(s *shopPull) engine.Engine { return ill{s.parrot} }, precedent.ExitIncomplete, "neutral"},
		{"analyzers", "none", func(s *shopPull) engine.Engine {
			s.push("conflict", map[string]string{"b.txt": conflict("one\n", "two\n", "three\n")})
			return nil
		}, precedent.ExitClean, "neutral"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShopPull(t)
			s.asApp()
			s.app.fixedEngine = test.reads(s)
			status, words := s.post("--fail-on", test.failOn)
			if status != test.status {
				t.Errorf("status %d\n%s", status, words)
			}
			if got := s.said(); got[forge.OnThread] != 1 || got[forge.OnReview] != 1 || got[forge.OnLine] == 0 {
				t.Errorf("said %v\n%s", got, words)
			}
			if n := len(s.door.stage.World.By(s.pull, forgetest.Bot)); n != 0 {
				t.Errorf("the person said %d things", n)
			}
			var checks []string
			for _, k := range s.door.stage.World.Repo("octo", "app").Checks {
				checks = append(checks, k.Name+" "+k.Conclusion+" by "+k.By.Login+" on "+k.Commit)
			}
			want := "precedent " + test.conclusion + " by reviewer[bot] on " + s.id("feature")
			if got := strings.Join(checks, "; "); got != want {
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
	s.finds()
	world := s.door.stage.World
	me := world.Me
	ours := slices.DeleteFunc(world.By(s.pull, me), func(c forge.Comment) bool { return c.Kind == forge.OnReview })
	// Of each comment of ours a copy by somebody else, and one by the account itself
	// whose marker was changed: the copy of one on another pull request, say.
	forged := map[forge.CommentRef]string{}
	var roots []precedent.ForgeID
	for _, c := range ours {
		for who, body := range map[forge.Person]string{outsider: string(c.Body), me: swapThread(string(c.Body))} {
			var m forge.Comment
			if c.Kind == forge.OnLine {
				m = world.Remark(s.pull, who, c.Span, body)
				roots = append(roots, m.ID)
			} else {
				m = world.Say(s.pull, who, "", body)
			}
			forged[forge.CommentRef{Kind: m.Kind, ID: m.ID}] = body
		}
	}
	s.push("fix", map[string]string{"src/till.js": flawlessTill})
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
		after := now[forge.CommentRef{Kind: c.Kind, ID: c.ID}]
		if after == "" || (c.Kind == forge.OnThread) != (after != string(c.Body)) {
			t.Errorf("our %s %s is now %q", c.Kind, c.ID, after)
		}
	}
	closed := 0
	for _, c := range world.Threads(s.pull) {
		if c.Closed {
			closed++
		}
		if slices.Contains(roots, c.Comments[0]) && (c.Closed || len(c.Comments) > 1) {
			t.Errorf("the forged conversation %s was closed or answered", c.Comments[0])
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
	s.finds()
	s.has("locked", s.err.String(), "nothing can be posted on #7: the pull request is locked")
	if status, said := s.post("--fail-on", "high"); status != precedent.ExitIncomplete {
		t.Errorf("status %d\n%s", status, said)
	}
	if got := s.said(); len(got) != 0 {
		t.Errorf("said %v", got)
	}
}
