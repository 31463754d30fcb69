package main

import (
	"context"
	"os"
	"path/filepath"
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

// TestTheSameHeadAgain: a review that stands at the head is not made again, unless
// it is one of another change or one that no model read.
func TestTheSameHeadAgain(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.app.fixedEngine = nil
	again := func(want bool, more ...string) {
		t.Helper()
		_, said := s.post(more...)
		if strings.Contains(said, "was reviewed already") == want {
			t.Errorf("reviewed again should be %v:\n%s", want, said)
		}
	}
	again(true)
	again(false)
	s.app.fixedEngine = s.parrot
	again(true)
	if len(s.threads()) != 3 {
		t.Errorf("threads %v", s.threads())
	}
	again(false)
	s.git(s.origin, "branch", "next", "main")
	s.door.stage.World.Change(func() { s.pull.Base.Name = "next" })
	again(true)
	again(false)
	again(true, "--again")
	if len(s.threads()) != 3 {
		t.Errorf("threads %v", s.threads())
	}
}

// TestBackToAHeadThatNobodySpokeOf: a review that was overtaken by a push does not
// stand at its head, should that come back.
func TestBackToAHeadThatNobodySpokeOf(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	first := s.id("feature")
	s.app.fixedEngine = &during{Engine: s.parrot, role: engine.Finder, do: func() { s.push("more", map[string]string{"src/till.js": tillFile + "// The end.\n"}) }}
	if status, said := s.post(); status != precedent.ExitIncomplete {
		t.Fatalf("status %d\n%s", status, said)
	}
	s.git(s.work, "reset", "-q", "--hard", first)
	s.parrot.text = tillFile
	s.moved()
	s.step("back", map[string]string{"refund": "open", "average": "open", "listener": "open"}, 1, "3 findings")
}

// listening is an engine that remembers what finders were asked.
type listening struct {
	engine.Engine
	mu    sync.Mutex
	asked map[string]string // by the finder's name
}

func (l *listening) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	if t.Role == engine.Finder {
		l.mu.Lock()
		l.asked[t.Name] += t.User()
		l.mu.Unlock()
	}
	return l.Engine.Run(ctx, t)
}

// TestNewRules: what was read by other rules is read again by the finder of the
// rules.
func TestNewRules(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	all := map[string]string{"refund": "open", "average": "open", "listener": "open"}
	s.step("first", all, 1)
	s.git(s.work, "checkout", "-q", "main")
	if err := os.WriteFile(filepath.Join(s.work, "CLAUDE.md"), []byte("# Rules\n\n- Use tabs.\n- Name every constant.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(s.work, "commit", "-q", "-a", "-m", "one more rule")
	s.git(s.work, "checkout", "-q", "feature")
	if err := os.WriteFile(filepath.Join(s.work, "more.txt"), []byte("one line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(s.work, "add", "-A")
	s.git(s.work, "commit", "-q", "-m", "another file")
	s.moved()
	l := &listening{Engine: s.parrot, asked: map[string]string{}}
	s.app.fixedEngine = l
	s.step("with another rule", all, 1)
	for _, line := range []string{"ledger.total", "one line"} {
		if !strings.Contains(l.asked["guidelines"], line) {
			t.Errorf("the finder of the rules has not read %q", line)
		}
	}
	// Without another rule only what is new is read.
	if err := os.WriteFile(filepath.Join(s.work, "more.txt"), []byte("one line\nand another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git(s.work, "commit", "-q", "-a", "-m", "another line")
	s.moved()
	clear(l.asked)
	s.step("with the same rules", all, 1)
	if asked := l.asked["guidelines"]; strings.Contains(asked, "ledger.total") || !strings.Contains(asked, "and another") {
		t.Errorf("the finder of the rules was asked\n%s", asked)
	}
}
