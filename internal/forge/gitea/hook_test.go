package gitea_test

import (
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// TestHooks: what Gitea and Forgejo send when something happens is verified and read.
func TestHooks(t *testing.T) {
	for name, kind := range map[string]forgetest.GiteaKind{"Gitea": forgetest.Gitea127, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			forgetest.Hooks(t, func(t *testing.T, s *forgetest.Stage, address, secret string) (forge.Forge, *forgetest.Hook) {
				g := s.Gitea(t)
				g.Kind = kind
				c := open(t, s, g.URL)
				if _, no, err := c.Deliveries(t.Context(), precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}, address,
					forgetest.Epoch); no == "" || err != nil {
					t.Errorf("it lists deliveries, %v", err)
				}
				return c, g.Hook(address, secret, nil)
			})
		})
	}
}
