package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
)

// timedLater is how much later than the machine's clock it is for timed, as a duration.
const timedLater = "TIMED_LATER"

// timed is the program, except that it waits for the forge by asking its parent to let the forge's
// time pass.
func timed() {
	_, sleep, err := forgetest.NewWatch(os.Getenv(parrotClock))
	later, laterErr := time.ParseDuration(os.Getenv(timedLater))
	if err != nil || laterErr != nil {
		fmt.Fprintln(os.Stderr, err, laterErr)
		syscall.Exit(9)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()),
		now: func() time.Time { return time.Now().Add(later) }, sleep: sleep,
	}
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	syscall.Exit(status) // os.Exit takes a second in a binary with the race detector
}

// editing is a program for the command engine: it finds the flaws of the till, as the parrot does,
// and fixes all of them when it is asked to.
func editing() {
	var r engine.Request
	err := json.NewDecoder(os.Stdin).Decode(&r)
	var answer engine.Answer
	if err == nil {
		text, _ := os.ReadFile(filepath.Join(r.TreeDir, "src", "till.js")) // judges have no tree
		e := &editor{Engine: &parrot{path: "src/till.js", text: string(text)}, texts: []string{fixedTill}}
		answer, err = e.Run(context.Background(), engine.Task{Role: r.Role, Name: r.Name, Prompt: r.Prompt, Tree: r.TreeDir, Edit: r.Edit})
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(engine.Response{Answer: answer.JSON, Model: answer.Model})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(1)
	}
	syscall.Exit(0)
}

// serveStory is a labelled pull request and a server that is started again for each step.
type serveStory struct {
	*rounds
	program string // the server
	trap    *forgetest.Trap
	hook    *forgetest.Hook // tells what happens to labels
	later   time.Duration
}

// newServeStory lets a program serve, with a policy.
func newServeStory(t *testing.T, program, policy string) *serveStory {
	t.Helper()
	s := &serveStory{rounds: newRounds(t), program: program}
	s.base("fix: {ungated: true}\n" + policy)
	s.world(func() { s.pull.Comments = nil })
	s.trap = s.door.stage.Trap(t, 0)
	s.hook = s.door.api.Hook(forgetest.Listen(t).URL, hookSecret, nil)
	s.app.env["PRECEDENT_ENGINE"], s.app.env["PRECEDENT_CONSOLIDATION"] = "command:editing", "off"
	return s
}

// hookSecret signs the webhooks of these tests.
const hookSecret = "an example of a secret of webhooks"

// environ is the environment of a server.
func (s *serveStory) environ() []string {
	env := []string{parrotClock + "=" + s.trap.Watch(), timedLater + "=" + s.later.String()}
	for k, v := range s.app.env {
		env = append(env, k+"="+v)
	}
	return env
}

// once runs serve --once in a process, which leads through the states.
func (s *serveStory) once(step string, through ...label.State) {
	s.t.Helper()
	before := len(s.entered())
	cmd := exec.Command(s.program, "serve", "--once", "--repositories", s.repoName())
	cmd.Dir, cmd.Env = s.app.dir, s.environ()
	said, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", step, err, said)
	}
	var want []string
	for _, state := range through {
		want = append(want, labels.Of(state))
	}
	if got := s.entered()[before:]; !slices.Equal(got, want) {
		s.t.Fatalf("%s: labels %q, want %q\n%s", step, got, want, said)
	}
}

// entered are the labels that were set, in this order.
func (s *serveStory) entered() []string {
	s.t.Helper()
	var all []string
	for _, d := range s.hook.Wait() {
		if d.Event != "pull_request" || d.Action != "labeled" {
			continue
		}
		var e struct{ Label struct{ Name string } }
		if err := json.Unmarshal(d.Body, &e); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, e.Label.Name)
	}
	return all
}

// quiet runs serve --once, which must change nothing.
func (s *serveStory) quiet(step string) {
	s.t.Helper()
	before := len(s.door.stage.Script.Requests())
	s.once(step)
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Writes() {
			s.t.Fatalf("%s: it sent %s %s", step, r.Method, r.Path)
		}
	}
}

// play plays the story, from the label for a review to that for a person.
func (s *serveStory) play(flaws int, fixed string) {
	s.t.Helper()
	head := s.id("feature")
	s.once("review and fix", label.Changes, label.CIPending)
	s.labelled("review and fix", label.CIPending)
	if got := s.git(s.origin, "show", "feature:src/till.js") + "\n"; s.id("feature") == head || s.id("refs/pull/7/head") != s.id("feature") || got != fixed {
		s.t.Fatalf("pushed:\n%s", got)
	}
	s.says("review and fix", "**Pushed `"+shortID(s.id("feature"))+"`** to address ", 1)
	if all := s.threads(); len(all) != flaws {
		s.t.Fatalf("threads %v", all)
	}
	if s.program == "timed" { // else each look at a pending check takes a minute
		s.report("build", "pending")
		s.quiet("the checks run")
		s.later += 2 * time.Minute
	}
	s.report("build", "success")
	s.door.stage.Clock.Pass(time.Minute) // within it, other checks may start
	s.once("checks and second review", label.ReviewNeeded, label.HumanReview)
	s.labelled("checks and second review", label.HumanReview)
	s.later += time.Hour
	s.quiet("a person's turn")

	s.says("the end", "## Precedent: clean, no findings", 1)
	s.says("the end", "## Precedent", 1)
	s.says("the end", "**Pushed", 1)
	all := s.threads() // one for each flaw
	for name, state := range all {
		if state != "closed" {
			s.t.Errorf("%s is %s", name, state)
		}
	}
	if pushes := s.door.git.Pushes(); len(all) != flaws || len(pushes) != 1 || pushes[0].Ref != "refs/heads/feature" {
		s.t.Errorf("threads %v, pushes %+v", all, pushes)
	}
}

// TestServeStory: precedent serve --once, a new process each time, leads a labelled pull request
// from findings over a fix and CI to a person's review, with git over HTTP. What it posts, it posts
// once, and with nothing due it writes nothing.
func TestServeStory(t *testing.T) {
	t.Run("command", func(t *testing.T) {
		t.Parallel()
		newServeStory(t, "timed", "").play(len(flaws), fixedTill)
	})
	t.Run("real time", func(t *testing.T) {
		t.Parallel()
		needs.Long(t, "waits in real time until GitHub lists what was posted")
		newServeStory(t, "precedent", "").play(len(flaws), fixedTill)
	})
	t.Run("Claude Code", func(t *testing.T) {
		t.Parallel()
		program := needs.Program(t, "PRECEDENT_TEST_CLAUDE", "claude/node_modules/.bin/claude", "the real Claude Code")
		model := &fixingModel{tools: map[string]int{}}
		server := httptest.NewServer(model)
		t.Cleanup(server.Close)
		s := newServeStory(t, "timed", "finders: {security: false, types: false, performance: false, architecture: false, tests: false, style: false, guidelines: false}\n")
		s.app.env["PRECEDENT_ENGINE"] = "claude"
		s.app.env["PATH"] = filepath.Dir(program) + string(filepath.ListSeparator) + os.Getenv("PATH")
		s.app.env["ANTHROPIC_API_KEY"], s.app.env["ANTHROPIC_BASE_URL"] = "sk-ant-canary-0123456789", server.URL
		s.play(1, strings.Replace(tillFile, flaws[0].lines[0], boundedRefund, 1))
		if model.tools["Read"] != 1 || model.tools["Edit"] != 1 {
			t.Errorf("calls: %v", model.tools)
		}
	})
}
