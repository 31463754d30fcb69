package gitea_test

import (
	"slices"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
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
	plain := func(*forgetest.Stage, *forgetest.Gitea) {}
	for name, test := range map[string]struct {
		kind forgetest.GiteaKind
		as   func(*forgetest.Stage, *forgetest.Gitea)
	}{
		"Gitea 1.27": {forgetest.Gitea127, plain}, "Gitea 1.26": {forgetest.Gitea126, plain},
		"Gitea 1.25": {forgetest.Gitea125, plain}, "Forgejo": {forgetest.Forgejo, plain},
		"an organization": {forgetest.Gitea126, func(s *forgetest.Stage, g *forgetest.Gitea) {
			g.Plain, g.Organization = true, true
			shop := s.World.Repo("acme", "shop")
			shop.Members = slices.DeleteFunc(shop.Members, func(m forgetest.Member) bool { return m.Person == forgetest.Cy })
			shop.Teams = []forgetest.Team{
				{ID: 1, Name: "Owners", Level: forge.Admin, Members: []forge.Person{forgetest.Ann, forgetest.Bot}},
				{ID: 2, Name: "Readers", Level: forge.Read, Members: []forge.Person{forgetest.Cy, forgetest.Bot}},
			}
		}},
		"a job": {forgetest.Gitea127, func(_ *forgetest.Stage, g *forgetest.Gitea) { g.Job(false) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "Gitea 1.27" {
				needs.WithoutRace(t, "starts the goroutines that it starts on Gitea 1.27, too")
			}
			forgetest.Run(t, func(t *testing.T, s *forgetest.Stage) forge.Forge {
				g := s.Gitea(t)
				g.Kind = test.kind
				s.World.Change(func() { test.as(s, g) })
				s.Limited = g.Plain
				return open(t, s, g.URL)
			})
		})
	}
}
