package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// appKey is the private key of the App of all tests: making one takes its time.
var appKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// privateKey is the file of that key as GitHub gives it, and its public part.
func privateKey(t testing.TB) (path string, public *rsa.PublicKey) {
	t.Helper()
	key := needs.Value(appKey())(t)
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
