package main

import (
	"bytes"
	"context"
	"maps"
	"os"
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

// week is a repository with a pull request, a server, people with a clone and a home each, and a CI whose every run has neither.
type week struct {
	*shopPull
	t *testing.T
}

// member is a person, or a run of CI.
type member struct {
	w        *week
	name     string
	app      *app
	out, err bytes.Buffer
}

// steady is a parrot that says the same in the same words.
func steady(p *parrot) engine.Engine {
	return bentEngine{p, func(ctx context.Context, t engine.Task) (engine.Answer, error) {
		p.mu.Lock()
		p.asked = 0
		p.mu.Unlock()
		return p.Run(ctx, t)
	}}
}

// join gives a person a clone on the branch of the pull request.
func (w *week) join(name string, env map[string]string) *member {
	w.t.Helper()
	m := &member{w: w, name: name}
	home := filepath.Join(w.home, name)
	clone := filepath.Join(home, "app")
	w.git(w.home, "clone", "-q", w.origin, clone)
	w.git(clone, "remote", "set-url", "origin", w.door.URL+"/octo/app.git")
	w.git(clone, "checkout", "-q", "feature")
	w.git(clone, "config", "user.name", name)
	m.app = &app{
		dir: clone, now: w.door.stage.Clock.Now, sleep: w.door.stage.Clock.Sleep, out: &m.out, err: &m.err,
		fixedEngine: steady(w.parrot), env: maps.Clone(w.app.env),
	}
	m.app.env["HOME"] = home
	maps.Copy(m.app.env, env)
	return m
}

// runs runs a command in the clone, and returns what it prints.
func (m *member) runs(status int, args ...string) string {
	m.w.t.Helper()
	m.out.Reset()
	m.err.Reset()
	if got := m.app.run(m.w.t.Context(), args); got != status {
		m.w.t.Fatalf("%s: precedent %s: status %d, want %d\n%s%s", m.name, strings.Join(args, " "), got, status, m.err.String(), m.out.String())
	}
	return m.out.String()
}

// dropped reviews the branch and returns what became of the finding about a flaw; empty if it is shown.
func (m *member) dropped(status int, flaw string) precedent.Dropped {
	m.w.t.Helper()
	out := m.runs(status, "review", "origin/main...feature", "--again", "--fail-on", "medium", "--json")
	r := parsed[precedent.Review](m.w.t, out)
	i := slices.IndexFunc(r.Findings, func(f precedent.Finding) bool { return strings.Contains(strings.ToLower(f.Title), flaw) })
	if i < 0 {
		m.w.t.Fatalf("%s: nothing about %s in %+v", m.name, flaw, r.Findings)
	}
	return r.Findings[i].Dropped
}

// serve is a look of the server, some time after the last one.
func (w *week) serve(later time.Duration) {
	w.t.Helper()
	w.door.stage.Clock.Pass(later)
	w.err.Reset()
	if status := w.app.run(w.t.Context(), []string{"serve", "--once", "--repositories", w.repoName(), "--fail-on", "medium"}); status != 0 {
		w.t.Fatalf("serve: status %d\n%s", status, w.err.String())
	}
}

// people are the rows of a memory that come from people and outcomes, without those about where findings were.
func people(export string) (rows []string) {
	for line := range strings.Lines(export) {
		for _, kind := range []string{`{"rejection":`, `{"learning":`, `{"outcome":`} {
			if strings.HasPrefix(line, kind) {
				rows = append(rows, line)
			}
		}
	}
	return rows
}

// TestTeamWeek: a week of two people with a clone each, a CI without a cache, and a server. What one of them dismissed, taught
// or got fixed is at its end with each of the others.
func TestTeamWeek(t *testing.T) {
	t.Parallel()
	w := &week{newShopPull(t), t}
	w.app.now, w.app.env["PRECEDENT_FIXES"] = w.door.stage.Clock.Now, "false"
	w.door.stage.World.Change(func() { w.pull.Labels = append(w.pull.Labels, labels.Of(label.ReviewNeeded)) })
	w.app.fixedEngine = steady(w.parrot)
	ann, bob := w.join("ann", nil), w.join("bob", nil)

	// Monday: the server reviews. Ann dismisses a finding in her clone, and shares that.
	w.serve(0)
	if got := w.threads(); len(got) != 3 {
		t.Fatalf("%v\n%s", got, w.err.String())
	}
	out := ann.runs(precedent.ExitFindings, "review", "origin/main...feature", "--fail-on", "medium", "--json")
	r := parsed[precedent.Review](t, out)
	id := func(flaw string) string {
		i := slices.IndexFunc(r.Findings, func(f precedent.Finding) bool { return strings.Contains(strings.ToLower(f.Title), flaw) })
		return r.Findings[i].ID
	}
	ann.runs(0, "dismiss", id("listener"), "--reason", "there is one till a day")
	ann.runs(0, "memory", "sync")

	// Tuesday: a maintainer teaches on the pull request. The server answers, and takes part in what is shared.
	w.door.stage.World.Say(w.pull, maintainer, "", "@precedent remember this: amounts are in cents")
	w.serve(24 * time.Hour)
	w.learned("Tuesday", "active do amounts are in cents")

	// Wednesday: a run of CI and the server know what Ann dismissed. Bob has all of it, too.
	ci := w.join("ci-1", map[string]string{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"})
	ci.runs(0, "memory", "sync", "--read-only")
	if got := ci.dropped(precedent.ExitFindings, "listener"); got != precedent.Dismissed {
		t.Errorf("CI: %q", got)
	}
	bob.runs(0, "memory", "sync")
	if got := bob.dropped(precedent.ExitFindings, "listener"); got != precedent.Dismissed {
		t.Errorf("Bob: %q", got)
	}
	bob.runs(0, "dismiss", id("refund"), "--reason", "the ledger bounds it")
	bob.runs(0, "memory", "sync")
	w.serve(2 * time.Hour) // it looks once an hour, on Tuesday maybe before it answered
	bob.runs(0, "memory", "sync")
	if list := bob.runs(0, "learn", "list"); !strings.Contains(list, "amounts are in cents") {
		t.Errorf("Bob knows\n%s", list)
	}

	// Thursday: the average is fixed; the server reviews the push, and hides what Ann and Bob dismissed.
	w.push("fix", map[string]string{"src/till.js": strings.Replace(tillFile, "  return sum / items.length\n", guarded, 1)})
	w.door.stage.World.Change(func() { w.pull.Labels = []string{labels.Of(label.ReviewNeeded)} })
	w.serve(24 * time.Hour)
	if s := w.summary(); !strings.Contains(s, "2 dismissed") {
		t.Errorf("Thursday:\n%s", s)
	}

	// Friday: it is merged, and the server learns what became of its findings. Bob takes back what Ann dismissed.
	w.door.stage.World.SetState(w.pull, maintainer, forge.Merged)
	w.serve(24 * time.Hour)
	w.serve(2 * time.Hour)
	bob.runs(0, "dismiss", "--undo", id("listener"))
	bob.runs(0, "memory", "sync")
	w.serve(2 * time.Hour)
	ann.runs(0, "memory", "sync")
	bob.runs(0, "memory", "sync")
	last := w.join("ci-2", map[string]string{"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "schedule"})
	last.runs(0, "memory", "sync")
	want := people(ann.runs(0, "memory", "export"))
	kinds := strings.Join(want, "")
	for _, has := range []string{`"learning":`, "amounts are in cents", `"outcome":`, `"fixed"`, `"rejection":`, "the ledger bounds it"} {
		if !strings.Contains(kinds, has) {
			t.Errorf("at the end nobody knows %s:\n%s", has, kinds)
		}
	}
	if strings.Contains(kinds, "there is one till a day") {
		t.Errorf("what Bob took back is known:\n%s", kinds)
	}
	for _, m := range []*member{bob, last} {
		if got := people(m.runs(0, "memory", "export")); !slices.Equal(got, want) {
			t.Errorf("%s knows\n%s\nand Ann\n%s", m.name, strings.Join(got, ""), kinds)
		}
	}
	server := filepath.Join(w.app.workflow().DataDir, "server.db")
	if _, err := os.Stat(server); err != nil {
		t.Fatal(err)
	}
	if got := people(ann.runs(0, "memory", "export", "--memory-db", server)); !slices.Equal(got, want) {
		t.Errorf("the server knows\n%s\nand Ann\n%s", strings.Join(got, ""), kinds)
	}
	if got := last.dropped(precedent.ExitFindings, "listener"); got != "" {
		t.Errorf("after it was taken back: %q", got)
	}
}
