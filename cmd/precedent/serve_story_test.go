package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// parrotClock says where the parent lets the forge's time pass, and what time it is.
const parrotClock = "PARROT_CLOCK"

// timedLater is how much later than the machine's clock it is for timed, as a duration. Without it, timed has the
// forge's clock.
const timedLater = "TIMED_LATER"

// timed is the program, except that it waits for the forge by asking its parent to let the forge's
// time pass.
func timed() {
	now, sleep, err := forgetest.NewWatch(os.Getenv(parrotClock))
	if text := os.Getenv(timedLater); err == nil && text != "" {
		var later time.Duration
		later, err = time.ParseDuration(text)
		now = func() time.Time { return time.Now().Add(later) }
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		syscall.Exit(9)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: environment(os.Environ()), now: now, sleep: sleep,
	}
	a.exit(ctx)
}

// What a story tells the program editing by its environment: how it works, and the file that gets
// a line for each task.
const (
	editingWay = "EDITING_WAY"
	editingLog = "EDITING_LOG"
)

// fixesNothing is a way of editing that changes the file all the same.
const fixesNothing = "fixes nothing"

// editing is a program for the command engine: it finds the flaws of the till, as the parrot does,
// and fixes all of them when it is asked to. If there are none, it changes something else.
func editing() {
	var r engine.Request
	err := json.NewDecoder(os.Stdin).Decode(&r)
	response := engine.Response{Model: "parrot"}
	if err == nil {
		text, _ := os.ReadFile(filepath.Join(r.TreeDir, "src", "till.js")) // judges have no tree
		changed := tillFixes.Replace(string(text))
		if os.Getenv(editingWay) == fixesNothing || changed == string(text) {
			changed = "// Looked at.\n" + string(text)
		}
		var answer engine.Answer
		e := &editor{Engine: &parrot{path: "src/till.js", text: string(text)}, texts: []string{changed}}
		task := engine.Task{Role: r.Role, Name: r.Name, Prompt: r.Prompt, Tree: r.TreeDir, Edit: r.Edit}
		answer, err = e.Run(context.Background(), task)
		response.Answer = answer.JSON
	}
	if err == nil {
		var line []byte
		if line, err = json.Marshal(r); err == nil {
			note(os.Getenv(editingLog), string(line)+"\n")
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(response)
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
	gitea *forgetest.Gitea
	trap  *forgetest.Trap
	hook  *forgetest.Hook // tells what happens to labels
	had   []string        // labels before that
	flags []string        // of the server
	later time.Duration
	ahead atomic.Int64 // nanoseconds that the clock of a running forge seems to be ahead
}

// Kinds of forges beside those that forgetest plays of Gitea's family.
const (
	onGitHub    forgetest.GiteaKind = -1
	onRealGitea forgetest.GiteaKind = -2 // that runs elsewhere
	onRealFork  forgetest.GiteaKind = -3 // and the pull request comes from a fork
	onRealAGit  forgetest.GiteaKind = -4 // and was pushed to refs/for/main
)

// newServeStory lets a server work on a forge of a kind, with a policy.
func newServeStory(t *testing.T, kind forgetest.GiteaKind, policy string) *serveStory {
	t.Helper()
	s := &serveStory{rounds: newRounds(t)}
	if kind >= 0 {
		s.gitea = s.toGitea(kind)
		s.open()
	}
	s.base(policy)
	s.world(func() { s.pull.Comments = nil })
	s.trap = s.door.stage.Trap(t, 0)
	s.had = slices.Clone(s.pull.Labels)
	switch kind {
	case onRealGitea:
		s.toReal(forgetest.FromBranch)
	case onRealFork:
		s.toReal(forgetest.FromFork)
	case onRealAGit:
		s.toReal(forgetest.FromAGit)
	case onGitHub:
		s.hook = s.door.api.Hook(forgetest.Listen(t).URL, hookSecret, nil)
	default:
		s.hook = s.gitea.Hook(forgetest.Listen(t).URL, hookSecret, nil)
	}
	s.app.env["PRECEDENT_ENGINE"], s.app.env["PRECEDENT_CONSOLIDATION"] = "command:editing", "off"
	s.app.env[editingLog] = filepath.Join(s.home, "tasks.jsonl")
	return s
}

// Policies of stories: without a gate, and with one of the finders, which saves time.
const (
	ungated   = "fix: {ungated: true}\n"
	oneFinder = "finders: {security: false, types: false, performance: false, architecture: false, tests: false, " +
		"style: false, guidelines: false}\n"
)

// hookSecret signs the webhooks of these tests.
const hookSecret = "an example of a secret of webhooks"

// works sets how the engine works.
func (s *serveStory) works(way string) { s.app.env[editingWay] = way }

// tasks are what the engine was asked to do, by role.
func (s *serveStory) tasks(role engine.Role) (all []engine.Request) {
	s.t.Helper()
	data, err := os.ReadFile(s.app.env[editingLog])
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if r := parsed[engine.Request](s.t, string(line)); r.Role == role {
			all = append(all, r)
		}
	}
	return all
}

// environ is the environment of a server.
func (s *serveStory) environ() []string {
	env := []string{parrotClock + "=" + s.trap.Watch(), timedLater + "=" + s.later.String()}
	for k, v := range s.app.env {
		env = append(env, k+"="+v)
	}
	return env
}

// server is a process of serve --once.
func (s *serveStory) server() (cmd *exec.Cmd, said *bytes.Buffer) {
	cmd, said = exec.Command("timed", append([]string{"serve", "--once", "--repositories", s.repoName()},
		s.flags...)...), new(bytes.Buffer)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.app.dir, s.environ(), said, said
	return cmd, said
}

// wait lets time pass for the server, also for its jobs that wait, whose times are River's.
func (s *serveStory) wait(d time.Duration) {
	s.t.Helper()
	s.later += d
	installation := needs.Value(s.app.workflow().OpenInstallation(s.t.Context(), s.app.env[databaseVariable]))(s.t)
	defer installation.Close()
	pool := needs.Value(installation.Pool(1))(s.t)
	defer pool.Close()
	earlier := fmt.Sprintf("strftime('%%Y-%%m-%%d %%H:%%M:%%f', substr(scheduled_at, 1, 19), '-%d seconds')", int(d.Seconds()))
	if s.app.env[databaseVariable] != "" {
		earlier = fmt.Sprintf("scheduled_at - interval '%d seconds'", int(d.Seconds()))
	}
	if _, err := pool.ExecContext(s.t.Context(), "UPDATE river_job SET scheduled_at = "+earlier+" WHERE finalized_at IS NULL"); err != nil {
		s.t.Fatal(err)
	}
}

// once runs serve --once in a process, which leads through the states to the last one.
func (s *serveStory) once(step string, through ...label.State) {
	s.t.Helper()
	before := len(s.entered())
	cmd, said := s.server()
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s: %v\n%s", step, err, said)
	}
	s.sync()
	if s.real != nil {
		s.t.Logf("%s:\n%s", step, said)
	}
	var want []string
	for _, state := range through {
		want = append(want, labels.Of(state))
	}
	if got := s.entered()[before:]; !slices.Equal(got, want) {
		s.t.Fatalf("%s: labels %q, want %q\n%s", step, got, want, said)
	}
	if len(through) > 0 {
		s.labelled(step, through[len(through)-1])
	}
}

// entered are the labels that the server has set, in this order. It never leaves a pull request
// without one.
func (s *serveStory) entered() (all []string) {
	s.t.Helper()
	had := s.had
	if s.real != nil {
		for _, e := range s.real.Events() {
			if e.Type == "label" && e.Added && e.By == s.door.stage.World.Me {
				all = append(all, e.Label)
			}
		}
		return all
	}
	for _, d := range s.hook.Wait() {
		if d.Event != "pull_request" {
			continue
		}
		e := parsed[struct {
			Sender      struct{ Login string }
			PullRequest struct{ Labels []struct{ Name string } } `json:"pull_request"`
		}](s.t, string(d.Body))
		var now []string
		for _, l := range e.PullRequest.Labels {
			now = append(now, l.Name)
		}
		if e.Sender.Login == s.door.stage.World.Me.Login {
			all = append(all, slices.DeleteFunc(slices.Clone(now), func(l string) bool { return slices.Contains(had, l) })...)
			if len(label.Found(now, labels)) == 0 {
				s.t.Fatalf("after %q the labels are %q", had, now)
			}
		}
		had = now
	}
	return all
}

// quiet runs serve --once, which must change nothing.
func (s *serveStory) quiet(step string) {
	s.t.Helper()
	if s.real != nil {
		before := s.real.Page()
		if s.once(step); s.real.Page() != before {
			s.t.Fatalf("%s: the page was\n%s\nand is\n%s", step, before, s.real.Page())
		}
		return
	}
	before := len(s.door.stage.Script.Requests())
	s.once(step)
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Writes() {
			s.t.Fatalf("%s: it sent %s %s", step, r.Method, r.Path)
		}
	}
}

// sets lets a person put a label in the place of the others of the cycle.
func (s *serveStory) sets(state label.State) {
	s.t.Helper()
	world := s.door.stage.World
	for _, old := range label.Found(world.LabelsOf(s.pull), labels) {
		world.Unlabel(s.pull, maintainer, labels.Of(old))
	}
	world.Label(s.pull, maintainer, labels.Of(state))
}

// pushed expects so many pushes to the branch of the pull request, and none elsewhere.
func (s *serveStory) pushed(step string, n int) {
	s.t.Helper()
	if s.real != nil {
		me := s.door.stage.World.Me // whose push is an event some time after git has ended
		needs.WaitUntil(s.t, step, func() bool { return s.real.PushesBy(me) >= n })
		if got := s.real.PushesBy(me); got != n {
			s.t.Fatalf("%s: %d pushes, want %d", step, got, n)
		}
		return
	}
	all := s.door.git.Pushes()
	elsewhere := func(p forgetest.PushedRef) bool { return p.Repo != "octo/app" || p.Ref != "refs/heads/feature" }
	if len(all) != n || slices.ContainsFunc(all, elsewhere) {
		s.t.Fatalf("%s: pushes %+v, want %d", step, all, n)
	}
}

// toReal moves the pull request to a repository of its own on the Gitea of PRECEDENT_TEST_GITEA.
func (s *serveStory) toReal(from forgetest.Origin) {
	s.t.Helper()
	address, admin := needs.Gitea(s.t)
	s.real = s.door.stage.Real(s.t, address, admin, s.pull, author, maintainer, outsider, otherBot)
	s.git(s.origin, "push", "-q", "-f", s.real.GitURL(nil), "main")
	s.real.Proxy(func() time.Duration { return time.Duration(s.ahead.Load()) })
	s.real.Open(from, func(address, ref string) {
		s.git(s.origin, "push", "-q", "-f", "-o", "force-push=true", address, "feature:"+ref)
	})
	s.door.URL = s.real.Door
	delete(s.app.env, "GITHUB_API_URL")
	delete(s.app.env, "GH_TOKEN")
	s.app.env["GITEA_TOKEN"], s.app.env["PRECEDENT_FORGE"] = s.real.Token, "gitea:"+s.real.Door
	s.had = s.door.stage.World.LabelsOf(s.pull)
}

// closes reports whether the forge resolves conversations for programs.
func (s *serveStory) closes() bool {
	if s.real != nil {
		return s.real.Resolves()
	}
	return s.gitea == nil || s.gitea.Kind != forgetest.Forgejo
}

// sync reads what a server left on a real forge.
func (s *prStage) sync() {
	s.t.Helper()
	if s.real != nil {
		s.git(s.origin, "fetch", "-q", s.real.GitURL(nil), "+refs/heads/*:refs/heads/*", "+refs/pull/*:refs/pull/*")
		// Gitea writes the event of a push some time after git has ended.
		needs.WaitUntil(s.t, "the head to be on the pull request", func() bool { return s.real.Shows(s.id("feature")) })
		s.real.Refresh()
	}
}

// play plays the story, from the label for a review to that for a person.
func (s *serveStory) play() {
	s.t.Helper()
	head := s.id("feature")
	s.once("review and fix", label.Changes, label.CIPending)
	if got := s.git(s.origin, "show", "feature:src/till.js") + "\n"; s.id("feature") == head ||
		s.id("refs/pull/7/head") != s.id("feature") || got != fixedTill {
		s.t.Fatalf("pushed:\n%s", got)
	}
	s.says("review and fix", "**Pushed `"+workspace.ShortID(s.id("feature"))+"`** to address ", 1)
	if all := s.threads(); len(all) != len(flaws) {
		s.t.Fatalf("threads %v", all)
	}
	s.report("build", "pending")
	s.quiet("the checks run")
	s.wait(2 * time.Minute)
	s.passes()
	s.once("checks and second review", label.ReviewNeeded, label.HumanReview)
	s.wait(time.Hour)
	s.quiet("a person's turn")

	s.ended()
	if s.closes() {
		for name, state := range s.threads() {
			if state != "closed" {
				s.t.Errorf("%s is %s", name, state)
			}
		}
	}
}

// ended expects one review, which is clean, one push, and one conversation for each flaw.
func (s *serveStory) ended() {
	s.t.Helper()
	s.says("the end", "## Precedent: clean, no findings", 1)
	s.says("the end", "## Precedent", 1)
	s.says("the end", "**Pushed", 1)
	s.pushed("the end", 1)
	if all := s.threads(); len(all) != len(flaws) {
		s.t.Errorf("threads %v", all)
	}
}

// TestServeStory: precedent serve --once, a new process each time, leads a labelled pull request
// from findings over a fix and CI to a person's review, with git over HTTP. What it posts, it posts
// once, and with nothing due it writes nothing.
func TestServeStory(t *testing.T) {
	t.Parallel()
	for name, kind := range serverForges {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := ungated + oneFinder
			if kind == onGitHub {
				policy = ungated // and all finders
			}
			newServeStory(t, kind, policy).play()
		})
	}
}

// TestRestoredBackup: a server whose database is an earlier copy goes on where the forge is, and posts nothing again.
func TestRestoredBackup(t *testing.T) {
	t.Parallel()
	s := newServeStory(t, onGitHub, ungated+oneFinder)
	s.once("review and fix", label.Changes, label.CIPending)
	file := serverFile(s.home)
	backup := read(t, file)
	s.passes()
	s.once("checks and second review", label.ReviewNeeded, label.HumanReview)
	needs.NoError(t, errors.Join(os.RemoveAll(file+"-wal"), os.RemoveAll(file+"-shm")))
	writeFile(t, file, backup, 0o600)
	if len(s.jobsOf(queue.Review)) == 0 {
		t.Error("the job for a review is not restored")
	}
	s.wait(time.Hour)
	s.once("restored")
	s.quiet("a person's turn")
	s.ended()
}
