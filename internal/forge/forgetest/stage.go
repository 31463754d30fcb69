// Package forgetest holds the conformance suite that every forge must pass, and
// what it is played on: a world that the test describes, servers that speak of
// it as real forges do, with faults that the test scripts, and a clock that
// nobody waits for.
package forgetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
)

// Secret is the token that the servers ask for. It is long, and no part of it is
// in anything else.
const Secret = "ghp_" + "q7Xw3ZrT9vLk2MfYb8NcJd5HsGa1PeU4oB6i" // it opens nothing but the servers of this package

// Stage is a world, the faults of the server that speaks of it, and the time.
type Stage struct {
	World  *World
	Script *Script
	Clock  *Clock
	// View is what the forge's dialect can tell of comments that the world knows;
	// nil for all. Its server sets it.
	View func(p *Pull, all []forge.Comment) []forge.Comment
}

// NewStage makes an empty world on which nothing goes wrong.
func NewStage(t testing.TB) *Stage {
	t.Helper()
	clock := &Clock{now: Epoch}
	return &Stage{World: &World{Me: Bot, repos: map[string]*Repo{}, clock: clock, last: firstID}, Script: &Script{clock: clock}, Clock: clock}
}

// told is what the forge tells of comments of a pull request.
func (s *Stage) told(p *Pull, all []forge.Comment) []forge.Comment {
	if s.View == nil {
		return all
	}
	return s.View(p, all)
}

// Epoch is when the clocks begin.
var Epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// Clock is a time that passes when somebody waits.
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
}

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Sleep lets the time pass at once, and notes it.
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

// Pass lets the time pass without anybody waiting.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Waits are the times that were waited so far.
func (c *Clock) Waits() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]time.Duration(nil), c.waits...)
}
