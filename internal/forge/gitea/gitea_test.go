package gitea_test

import (
	"slices"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/gitea"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
)

// open is a client of a server.
func open(t *testing.T, s *forgetest.Stage, base string) *gitea.Client {
	t.Helper()
	token := needs.Value(wire.NewToken(forgetest.Secret))(t)
	c, err := gitea.New(gitea.Options{BaseURL: base, Token: token, Network: wire.Network{
		Now:   s.Clock.Now,
		Sleep: s.Clock.Sleep,
	}})
	needs.NoError(t, err)
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
			if name != "Gitea 1.27" && name != "Forgejo" {
				needs.Soak(t, "is like another server but for a few answers")
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

// TestLabelsInOtherCase: a label in other case is the same label: no second one is made, and it is removed.
func TestLabelsInOtherCase(t *testing.T) {
	s := forgetest.NewStage(t)
	s.World.Add(forgetest.Shop())
	g := s.Gitea(t)
	shop := s.World.Repo("acme", "shop")
	s.World.Change(func() { shop.Labels, shop.Pulls[1].Labels = []string{"Bot-Review-Needed"}, nil })
	c := open(t, s, g.URL)
	repo := precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}
	needs.Result(t, "add", forge.Unsupported(""))(c.AddLabel(t.Context(), repo, 1, "bot-review-needed"))
	if got := shop.Pulls[1].Labels; len(got) != 1 || got[0] != "Bot-Review-Needed" || len(shop.Labels) != 1 {
		t.Errorf("labels %q of %q", got, shop.Labels)
	}
	if no, err := c.RemoveLabel(t.Context(), repo, 1, "bot-REVIEW-needed"); no != "" || err != nil ||
		len(shop.Pulls[1].Labels) != 0 {
		t.Errorf("%q, %v, labels %q", no, err, shop.Pulls[1].Labels)
	}
}
