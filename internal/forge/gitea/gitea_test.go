package gitea_test

import (
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/wire"
)

// open is a client of a server.
func open(t *testing.T, s *forgetest.Stage, base string) *gitea.Client {
	t.Helper()
	token, err := wire.NewToken(forgetest.Secret)
	if err != nil {
		t.Fatal(err)
	}
	c, err := gitea.New(gitea.Options{BaseURL: base, Token: token, Network: wire.Network{Now: s.Clock.Now, Sleep: s.Clock.Sleep}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConformance(t *testing.T) {
	for name, kind := range map[string]forgetest.GiteaKind{
		"Gitea 1.27": forgetest.Gitea127, "Gitea 1.26": forgetest.Gitea126, "Gitea 1.25": forgetest.Gitea125, "Forgejo": forgetest.Forgejo,
	} {
		t.Run(name, func(t *testing.T) {
			forgetest.Run(t, func(t *testing.T, s *forgetest.Stage) forge.Forge {
				g := s.Gitea(t)
				g.Kind = kind
				return open(t, s, g.URL)
			})
		})
	}
}
