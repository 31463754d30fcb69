package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
)

// TestServerSharesItsMemory: what a person dismissed in a clone and shared is hidden by the server, and what the server
// was taught, and learned when the pull request was merged, is in the clone.
func TestServerSharesItsMemory(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.app.now, s.app.env["PRECEDENT_FIXES"] = s.door.stage.Clock.Now, "false"
	s.app.fixedEngine = bentEngine{s.parrot, func(ctx context.Context, task engine.Task) (engine.Answer, error) {
		s.parrot.mu.Lock()
		s.parrot.asked = 0 // it says the same in the same words
		s.parrot.mu.Unlock()
		return s.parrot.Run(ctx, task)
	}}
	clone := filepath.Join(s.home, "ann", "app")
	s.git(s.home, "clone", "-q", "--branch", "feature", s.origin, clone)
	s.git(clone, "remote", "set-url", "origin", s.door.URL+"/octo/app.git")
	ann := &app{
		dir: clone, now: s.app.now, sleep: s.app.sleep, out: &s.out, err: &s.err, fixedEngine: s.app.fixedEngine,
		env: maps.Clone(s.app.env),
	}
	ann.env["HOME"] = filepath.Dir(clone)
	run := func(a *app, status int, args ...string) string {
		t.Helper()
		s.out.Reset()
		s.err.Reset()
		if got := a.run(t.Context(), args); got != status {
			t.Fatalf("precedent %q: status %d, want %d\n%s%s", args, got, status, s.err.String(), s.out.String())
		}
		return s.out.String()
	}
	serve := func(later time.Duration) {
		t.Helper()
		s.door.stage.Clock.Pass(later)
		run(s.app, 0, "serve", "--once", "--repositories", s.repoName(), "--fail-on", "medium")
	}
	labelled := func() {
		s.door.stage.World.Change(func() { s.pull.Labels = []string{labels.Of(label.ReviewNeeded)} })
	}

	labelled()
	serve(0)
	out := run(ann, precedent.ExitFindings, "review", "origin/main...feature", "--fail-on", "medium", "--json")
	r := parsed[precedent.Review](t, out)
	i := slices.IndexFunc(r.Findings, func(f precedent.Finding) bool { return flawIn(f.Title) == "listener" })
	run(ann, 0, "dismiss", r.Findings[i].ID, "--reason", "there is one till a day")
	run(ann, 0, "memory", "sync")

	s.door.stage.World.Say(s.pull, maintainer, "", "@precedent remember this: amounts are in cents")
	serve(24 * time.Hour)
	s.push("fix", map[string]string{"src/till.js": guardedTill})
	labelled()
	serve(24 * time.Hour)
	if summary := s.summary(); !strings.Contains(summary, "1 dismissed") {
		t.Errorf("the server does not know what was dismissed:\n%s", summary)
	}

	s.door.stage.World.SetState(s.pull, maintainer, forge.Merged)
	serve(24 * time.Hour)
	serve(2 * time.Hour) // it looks once an hour
	run(ann, 0, "memory", "sync")
	export := run(ann, 0, "memory", "export")
	for _, has := range []string{"amounts are in cents", `"outcome":`, `"fixed"`, "there is one till a day"} {
		if !strings.Contains(export, has) {
			t.Errorf("the clone does not know %s:\n%s", has, export)
		}
	}
}
