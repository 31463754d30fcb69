package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// commitID matches the id of a commit, and the start of one, as comments have it.
var commitID = regexp.MustCompile("([\".`])[0-9a-f]{12}(?:[0-9a-f]{28})?\\b")

// ownBranch makes the head of the pull request a branch of the repository itself.
func (s *shopPull) ownBranch() {
	s.door.stage.World.Change(func() {
		s.pull.Head.Repo, s.pull.Head.RepoID, s.pull.Head.Name = s.pull.Base.Repo, s.pull.Base.RepoID, "feature"
	})
}

// fixes are the commits of ours on the branch, and the notes and replies about them.
func (s *shopPull) fixes() (commits int, said []string) {
	s.t.Helper()
	commits = strings.Count(s.git(s.origin, "log", "--format=%b", "main..feature"), "Precedent-Review: ")
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		for _, start := range []string{"**Pushed", "**Addressed:**", "**Nothing was"} {
			if strings.HasPrefix(string(c.Body), start) {
				body := commitID.ReplaceAllString(forgetest.ReadableMarkers(string(c.Body)), "${1}COMMIT")
				said = append(said, fmt.Sprintf("%s %s", c.Kind, unnatural(body)))
			}
		}
	}
	slices.Sort(said) // the engine addresses conversations in any order
	return commits, said
}

// exit runs the program, and ends the process.
func (a *app) exit(ctx context.Context) {
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	syscall.Exit(status) // os.Exit takes a second in a binary with the race detector
}

// quarry is a reviewed pull request from a branch of the repository, whose fixes are other processes.
type quarry struct {
	*shopPull
	trap *forgetest.Trap
}

func newQuarry(t *testing.T) *quarry {
	t.Helper()
	q := &quarry{shopPull: newShopPull(t)}
	q.app.now = q.door.stage.Clock.Now
	q.ownBranch()
	q.finds()
	q.trap = q.door.stage.Trap(t, 0)
	q.app.env["PRECEDENT_ENGINE"], q.app.env[editingLog] = "command:editing", filepath.Join(q.home, "tasks.jsonl")
	return q
}

// fix is the command fix, as a process.
func (q *quarry) fix(args ...string) *exec.Cmd {
	cmd := exec.Command("timed", append([]string{"fix", q.door.URL + "/octo/app/pull/7"}, args...)...)
	cmd.Dir = q.app.dir
	cmd.Env = []string{parrotClock + "=" + q.trap.Watch()}
	for k, v := range q.app.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// findingID is the form of a finding's id.
var findingID = regexp.MustCompile(`\b[0-9a-hjkmnp-tv-z]{10}\b`)

// unnatural is a text without what differs from one run to the next.
func unnatural(s string) string {
	return findingID.ReplaceAllString(forgetest.WithoutVolatile(s), "FINDING")
}

// TestFixCommand: a dry run prints a patch and changes nothing; without a gate nothing is pushed
// unless the operator says so; then one commit is pushed, and its thread has a reply.
func TestFixCommand(t *testing.T) {
	t.Parallel()
	q := newQuarry(t)
	before := len(q.door.stage.World.By(q.pull, forgetest.Bot))
	for _, step := range []struct {
		args                     []string
		status                   int
		says                     string
		commits, pushes, replies int
	}{
		{[]string{"--dry-run", "--ungated"}, 0, "planned, 4 conversations addressed", 0, 0, 0},
		{nil, 1, "refused: the gate was skipped", 0, 0, 1},
		{[]string{"--ungated"}, 0, "pushed ", 1, 1, 6},
		{[]string{"--ungated"}, 0, "an earlier round pushed it", 1, 1, 6},
	} {
		var stdout, stderr bytes.Buffer
		cmd := q.fix(step.args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = q.trap.Run(cmd, 0)
		status := cmd.ProcessState.ExitCode()
		if status != step.status || !strings.Contains(stderr.String(), step.says) {
			t.Errorf("%q: status %d\n%s%s", step.args, status, stdout.String(), stderr.String())
		}
		commits, words := q.fixes()
		pushes := q.door.git.Pushes()
		if commits != step.commits || len(pushes) != step.pushes || len(words) != step.replies {
			t.Errorf("%q: %d commits, pushes %+v, comments\n%s", step.args, commits, pushes, strings.Join(words, "\n"))
		}
		if n := len(q.door.stage.World.By(q.pull, forgetest.Bot)) - before; step.replies == 0 && n != 0 {
			t.Errorf("%q: %d comments were posted", step.args, n)
		}
		if patch := stdout.String(); step.replies == 0 && (!strings.Contains(patch, "+"+guarded) ||
			!strings.Contains(patch, "\n ") || strings.HasSuffix(patch, "\n\n")) {
			t.Errorf("%q: no patch in\n%s", step.args, patch)
		}
	}
}

// requestKiller kills a process when its request of a number arrives, to the API or to git. The
// forge carries the request out all the same.
type requestKiller struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	at   int
	came int
	path string // of the request
}

func (k *requestKiller) watch(r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.came++; k.came == k.at && k.cmd != nil {
		k.path = r.URL.Path
		_ = k.cmd.Process.Kill() // it may have ended
	}
}

// attempt fixes in a process, which is killed at a request if at is one, and tells whether it was killed.
func (k *requestKiller) attempt(q *quarry, at int) (killed bool) {
	q.t.Helper()
	cmd := q.fix("--ungated")
	var said bytes.Buffer
	cmd.Stderr = &said
	k.mu.Lock()
	k.cmd, k.at, k.came, k.path = cmd, at, 0, ""
	k.mu.Unlock()
	_ = q.trap.Run(cmd, 0)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cmd = nil
	if status := cmd.ProcessState.ExitCode(); status > 0 {
		q.t.Errorf("status %d\n%s", status, said.String())
	}
	return cmd.ProcessState.ExitCode() < 0
}

// TestFault54FixKilled kills the command with SIGKILL at each of its requests, before the forge or
// git's server carries it out, and after that. Repeated, it leaves one commit, one push, and one
// reply for each thread, whatever happened.
func TestFault54FixKilled(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T, k *requestKiller) *quarry {
		t.Helper()
		q := newQuarry(t)
		q.door.watch = k.watch
		return q
	}
	var first requestKiller
	calm := prepare(t, &first)
	if first.attempt(calm, 0) {
		t.Fatal("nobody killed it")
	}
	requests := first.came
	commits, want := calm.fixes()
	if commits != 1 || len(want) != 5 {
		t.Fatalf("%d commits and the comments\n%s", commits, strings.Join(want, "\n"))
	}
	points := needs.Rounds(50, 5)
	var killed atomic.Int64
	kill := func(t *testing.T, i int) {
		t.Helper()
		var k requestKiller
		q := prepare(t, &k)
		at := 1 + i*requests/points
		if i%2 == 1 { // after an API request was carried out; git's are met otherwise
			q.trap.Set(1+i*(requests-4)/points, true)
			at = 0
		}
		if k.attempt(q, at) {
			killed.Add(1)
		}
		q.trap.Set(0, false)
		path := k.path
		if k.attempt(q, 0) {
			t.Fatal("nobody killed it")
		}
		commits, got := q.fixes()
		pushes := q.door.git.Pushes()
		if commits != 1 || len(pushes) != 1 || pushes[0].Ref != "refs/heads/feature" || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("killed at request %d (%s): %d commits, pushes %+v, comments\n%s\nwant\n%s", at, path, commits, pushes, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if head := q.git(q.origin, "rev-parse", "feature"); q.pull.Head.SHA != head {
			t.Errorf("the pull request is at %s, its branch at %s", q.pull.Head.SHA, head)
		}
	}
	t.Run("points", func(t *testing.T) {
		for i := range points {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				kill(t, i)
			})
		}
	})
	t.Logf("killed %d of %d times, over %d requests", killed.Load(), points, requests)
	if killed.Load() < int64(points/2) {
		t.Errorf("only %d of %d were killed", killed.Load(), points)
	}
}
