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
)

// Secret is the token that the servers ask for. It is long, and no part of it is
// in anything else.
const Secret = "ghp_" + "q7Xw3ZrT9vLk2MfYb8NcJd5HsGa1PeU4oB6i" // it opens nothing but the servers of this package

// Stage is a world, the faults of the server that speaks of it, and the time.
type Stage struct {
	World  *World
	Script *Script
	Clock  *Clock
}

// NewStage makes an empty world on which nothing goes wrong.
func NewStage(t testing.TB) *Stage {
	t.Helper()
	return &Stage{World: &World{repos: map[string]*Repo{}}, Script: &Script{}, Clock: &Clock{now: Epoch}}
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
