package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
)

// ownBranch makes the head of the pull request a branch of the repository itself.
func (s *shopPull) ownBranch() {
	s.door.stage.World.Change(func() {
		s.pull.Head.Repo, s.pull.Head.RepoID, s.pull.Head.Name = s.pull.Base.Repo, s.pull.Base.RepoID, "feature"
	})
}

// fixes counts the commits of ours on the branch, and returns the notes and replies about them.
func (s *shopPull) fixes() (commits int, said []string) {
	s.t.Helper()
	for _, c := range s.door.stage.World.By(s.pull, s.door.stage.World.Me) {
		for _, start := range []string{"**Pushed", "**Addressed:**", "**Nothing was"} {
			if strings.HasPrefix(string(c.Body), start) {
				said = append(said, string(c.Body))
			}
		}
	}
	return strings.Count(s.git(s.origin, "log", "--format=%b", "main..feature"), "Precedent-Review: "), said
}

// exit runs the program, and ends the process.
func (a *app) exit(ctx context.Context) {
	end := a.makeTemp()
	status := a.run(ctx, os.Args[1:])
	end()
	syscall.Exit(status) // os.Exit takes a second in a binary with the race detector
}

// TestFixCommand: a dry run prints a patch and changes nothing; without a gate nothing is pushed
// unless the operator says so; then one commit is pushed, and its thread has a reply.
func TestFixCommand(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.app.now = s.door.stage.Clock.Now
	s.ownBranch()
	s.finds()
	trap := s.door.stage.Trap(t, 0)
	s.app.env["PRECEDENT_ENGINE"], s.app.env[editingLog] = "command:editing", filepath.Join(s.home, "tasks.jsonl")
	before := len(s.door.stage.World.By(s.pull, forgetest.Bot))
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
		cmd := exec.Command("timed", append([]string{"fix", s.door.URL + "/octo/app/pull/7"}, step.args...)...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.app.dir, []string{parrotClock + "=" + trap.Watch()}, &stdout, &stderr
		for k, v := range s.app.env {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
		_ = trap.Run(cmd, 0)
		status := cmd.ProcessState.ExitCode()
		if status != step.status || !strings.Contains(stderr.String(), step.says) {
			t.Errorf("%q: status %d\n%s%s", step.args, status, stdout.String(), stderr.String())
		}
		commits, words := s.fixes()
		pushes := s.door.git.Pushes()
		if commits != step.commits || len(pushes) != step.pushes || len(words) != step.replies {
			t.Errorf("%q: %d commits, pushes %+v, comments\n%s", step.args, commits, pushes, strings.Join(words, "\n"))
		}
		if n := len(s.door.stage.World.By(s.pull, forgetest.Bot)) - before; step.replies == 0 && n != 0 {
			t.Errorf("%q: %d comments were posted", step.args, n)
		}
		if patch := stdout.String(); step.replies == 0 && (!strings.Contains(patch, "+"+guarded) ||
			!strings.Contains(patch, "\n ") || strings.HasSuffix(patch, "\n\n")) {
			t.Errorf("%q: no patch in\n%s", step.args, patch)
		}
	}
}
