// Package forgetest has the conformance suite for forges and what it runs on: a world described by the test,
// servers that show it as real forges do, scripted faults, and a clock that advances without waiting.
//
// GitHub.Git and Gitea.Git serve real repositories at the address of the forge, for fetching and
// pushing: a push moves the head of the pull request in the world, and its ref. GitHub.Hook and
// Gitea.Hook send signed events to an address when something happens in the world, whether by the
// actions of World, by the API or by a push; Hook.Wait waits until they are sent. Each is sent once.
package forgetest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Secret is the token that the servers require. It is long, and no part of it occurs elsewhere.
const Secret = "ghp_" + "q7Xw3ZrT9vLk2MfYb8NcJd5HsGa1PeU4oB6i" // it opens nothing but the servers of this package

// Stage is a world, the faults of its server, and the time.
type Stage struct {
	World  *World
	Script *Script
	Clock  *Clock
	// View returns what the forge can tell of the comments in the world; nil for
	// everything. The server sets it.
	View func(p *Pull, all []forge.Comment) []forge.Comment
	// Limited means that the account is not an administrator, and that the forge lets only
	// those take a request for changes back.
	Limited bool
}

// NewStage returns an empty world without faults.
func NewStage(t testing.TB) *Stage {
	t.Helper()
	clock := &Clock{now: Epoch}
	return &Stage{
		World:  &World{Me: Bot, repos: map[string]*Repo{}, clock: clock, last: firstID},
		Script: &Script{clock: clock}, Clock: clock,
	}
}

// Bare is a server without a world: it answers with 201 and {"id":1} where no fault is planned.
func (s *Stage) Bare(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(s.Script.wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":1}`)
	})))
	t.Cleanup(server.Close)
	return server
}

// told returns what the forge tells of comments on a pull request.
func (s *Stage) told(p *Pull, all []forge.Comment) []forge.Comment {
	if s.View == nil {
		return all
	}
	return s.View(p, all)
}

// Epoch is the time at which clocks start.
var Epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Clock is a time that advances when somebody waits.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep advances the time at once, and records it.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waits = append(c.waits, d)
	return nil
}

// Pass advances the time without recording it.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Waits returns the recorded waits.
func (c *Clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.waits...)
}
