package github

import (
	"errors"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/needs"
)

func TestConformance(t *testing.T) {
	forgetest.Run(t, func(t *testing.T, s *forgetest.Stage) forge.Forge { return client(t, s, s.GitHub(t)) })
}

// client reads a scripted server, in no time.
func client(t testing.TB, s *forgetest.Stage, g *forgetest.GitHub) *Client {
	t.Helper()
	return clientWith(t, s, g, func(*Options) {})
}

// clientWith is a client like that, with something about it changed.
func clientWith(t testing.TB, s *forgetest.Stage, g *forgetest.GitHub, change func(*Options)) *Client {
	t.Helper()
	token, err := wire.NewToken(forgetest.Secret)
	needs.NoError(t, err)
	o := Options{
		BaseURL: g.URL, Token: token,
		Network: wire.Network{
			Now: s.Clock.Now, Sleep: s.Clock.Sleep, Rand: func(n time.Duration) time.Duration { return n / 2 },
		},
	}
	change(&o)
	c, err := New(o)
	needs.NoError(t, err)
	return c
}

// trouble is the error of a forge; the zero one if it is none.
func trouble(err error) forge.Error {
	if e, ok := errors.AsType[*forge.Error](err); ok {
		return *e
	}
	return forge.Error{}
}

// open is a stage with Shop, its server and a client.
func open(t testing.TB) (*forgetest.Stage, *forgetest.GitHub, *Client, precedent.Repo) {
	t.Helper()
	s := forgetest.NewStage(t)
	s.World.Add(forgetest.Shop())
	g := s.GitHub(t)
	c := client(t, s, g)
	return s, g, c, precedent.Repo{Host: c.Host(), Owner: "acme", Name: "shop"}
}
