package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// tillEngine finds the flaws of the till, as the parrot does, and fixes all of them when it is asked to. If there are
// none, or it is to fix nothing, it changes something else.
type tillEngine struct {
	*parrot
	fixesNothing bool
	asked        []engine.Task
}

func (e *tillEngine) Info() engine.Info {
	info := e.parrot.Info()
	info.WantsTree = true
	return info
}

func (e *tillEngine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	text, err := os.ReadFile(filepath.Join(t.Tree, "src", "till.js")) // judges have no tree
	e.mu.Lock()
	e.asked = append(e.asked, t)
	e.parrot.asked = 0
	if err == nil {
		e.text = string(text)
	}
	changed := tillFixes.Replace(e.text)
	if e.fixesNothing || changed == e.text {
		changed = "// Looked at.\n" + e.text
	}
	e.mu.Unlock()
	return (&editor{Engine: e.parrot, texts: []string{changed}}).Run(ctx, t)
}

// serveStory is a labelled pull request and a server that is started again for each step.
type serveStory struct {
	*rounds
	engine *tillEngine
	gitea  *forgetest.Gitea
	hook   *forgetest.Hook // tells what happens to labels
	had    []string        // labels before that
	later  time.Duration
	ahead  atomic.Int64 // nanoseconds that the clock of a running forge seems to be ahead
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
	s.engine = &tillEngine{parrot: s.parrot}
	s.app.fixedEngine, s.app.now = s.engine, func() time.Time { return time.Now().Add(s.later) }
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

// tasks are what the engine was asked to do, by role.
func (s *serveStory) tasks(role engine.Role) (all []engine.Task) {
	return slices.DeleteFunc(slices.Clone(s.engine.asked), func(t engine.Task) bool { return t.Role != role })
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

// once runs a server once, which leads through the states to the last one.
func (s *serveStory) once(step string, through ...label.State) {
	s.t.Helper()
	before := len(s.entered())
	status, said := s.run("serve", "--once", "--repositories", s.repoName())
	if status != precedent.ExitClean {
		s.t.Fatalf("%s: status %d\n%s", step, status, said)
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
	s.writesNothing(step, func() { s.once(step) })
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

// TestServeStory: precedent serve --once, a new server each time, leads a labelled pull request
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
