package main

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestRealGitea plays stories on a Gitea or Forgejo that runs elsewhere: make soak.
func TestRealGitea(t *testing.T) {
	t.Parallel()
	play := func(name string, of aStory) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			of.play(newServeStory(t, of.real, of.policy))
			t.Logf("played: %s, %.0f s", name, time.Since(began).Seconds())
		})
	}
	if hasSandbox() {
		play("Gate", stories["Gate"])
	}
	for name, of := range stories {
		if name != "Gate" {
			play(name, of)
		}
	}
	play("AGit", aStory{ungated + oneFinder, storyFork, onRealAGit})
	play("Fix", aStory{ungated + oneFinder, (*serveStory).play, onRealGitea})
	play("Webhooks", aStory{ungated + oneFinder, storyWebhooks, onRealGitea})
}

// storyWebhooks: a server that polls once an hour leads the cycle by the events of the forge.
func storyWebhooks(s *serveStory) {
	s.app.env["PRECEDENT_WEBHOOK_SECRET"] = hookSecret
	listener := needs.Value(net.Listen("tcp", "127.0.0.1:0"))(s.t)
	address := listener.Addr().String()
	_ = listener.Close() // the server takes it
	ctx, stop := context.WithCancel(s.t.Context())
	var server sync.WaitGroup
	server.Go(func() {
		s.app.run(ctx, []string{"serve", "--interval", "1h", "--listen", address, "--repositories", s.repoName()})
	})
	s.t.Cleanup(func() {
		stop()
		server.Wait()
		s.t.Logf("%s", s.err.String())
	})
	s.real.Hook("http://"+address+"/webhooks/gitea", hookSecret)
	reaches := func(state label.State) {
		s.t.Helper()
		needs.WaitUntil(s.t, labels.Of(state), func() bool {
			s.real.Refresh()
			all := label.Found(s.door.stage.World.LabelsOf(s.pull), labels)
			return len(all) == 1 && all[0] == state
		})
	}
	reaches(label.CIPending)
	s.sync()
	s.report("build", "success")
	reaches(label.HumanReview)
	s.real.Refresh()
	s.says("the end", "## Precedent: clean, no findings", 1)
	s.says("the end", "**Pushed", 1)
	s.pushed("the end", 1)
}
