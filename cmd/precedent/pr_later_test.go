package main

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
)

// during is an engine that does something, once, while it is asked for a role.
type during struct {
	engine.Engine
	role engine.Role
	mu   sync.Mutex
	do   func()
}

func (d *during) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	d.mu.Lock()
	if do := d.do; t.Role == d.role && do != nil {
		d.do = nil
		do()
	}
	d.mu.Unlock()
	return d.Engine.Run(ctx, t)
}

// dana has no say in the repository.
var dana = forge.Person{ID: "901", Login: "dana"}

const guarded = "  return items.length > 0 ? sum / items.length : 0\n"

// TestPushedWhileItIsReviewed: what a review found out and could not say, because
// somebody pushed meanwhile, the next one finds out and says.
func TestPushedWhileItIsReviewed(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	all := map[string]string{"refund": "open", "average": "open", "listener": "open"}
	s.step("first", all, 1)

	var opened forge.Comment
	for _, c := range s.shown(forge.OnLine) {
		if strings.Contains(string(c.Body), "refund") {
			opened = c
		}
	}
	asked := s.door.stage.World.Say(s.pull, dana, opened.ID, "Which payment do you mean?")
	fixed := strings.Replace(tillFile, "  return sum / items.length\n", guarded, 1)
	s.push("guard the average", map[string]string{"src/till.js": fixed})
	s.app.fixedEngine = &during{Engine: s.parrot, role: engine.Threads, do: func() {
		s.push("one more line", map[string]string{"src/till.js": fixed + "// The end.\n"})
	}}
	if status, said := s.post(); status != precedent.ExitIncomplete || !strings.Contains(said, "has new commits: nothing was posted") {
		t.Fatalf("status %d\n%s", status, said)
	}
	all["average"] = "closed"
	s.step("once more", all, 1)
	replies := 0
	for _, c := range s.shown(forge.OnLine) {
		if c.ReplyTo == opened.ID && c.ID > asked.ID {
			replies++
		}
	}
	if replies != 1 {
		t.Errorf("%d answers to the question", replies)
	}
}
