//go:build unix

package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/queue"
)

// TestServeGiteaHook: a pull request on servers of Gitea's family is reviewed because a signed
// webhook tells of its label. The server, a process, does not poll meanwhile. What is signed with
// another secret changes nothing, nor do the events that the server causes itself.
func TestServeGiteaHook(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]forgetest.GiteaKind{"Gitea": forgetest.Gitea127, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRounds(t)
			gitea := s.toGitea(kind)
			s.open()
			s.relabel(label.None)
			s.world(func() { s.pull.Comments = nil })
			s.app.env["PRECEDENT_CONSOLIDATION"], s.app.env["PRECEDENT_FIXES"] = "off", "false"
			env := []string{parrotClock + "=" + s.door.stage.Trap(t, 0).Watch(), timedLater + "=0s"}
			for k, v := range s.app.env {
				env = append(env, k+"="+v)
			}
			server := startServer(t, "timed", s.home, env, "--repositories", s.repoName(), "--engine", "command:editing", "--interval", "1h")
			server.logs(`"the server has started"`, 1)
			server.logs("result=nothing", 1) // the only poll
			repo := s.door.stage.World.Repo("octo", "app")
			address := "http://" + server.at + "/webhooks/gitea"
			forged := gitea.Hook(address, "another secret", repo)
			s.door.stage.World.Label(s.pull, maintainer, "area/doc")
			for _, d := range forged.Wait() {
				if d.Status != http.StatusUnauthorized {
					t.Errorf("forged %s: %d", d.Kind, d.Status)
				}
			}
			hook := gitea.Hook(address, hookSecret, repo)
			s.door.stage.World.Label(s.pull, maintainer, labels.ReviewNeeded)
			server.logs("result=review status="+string(label.Changes), 1)
			server.logs(`msg="job ended" kind=review`, 2)
			for _, d := range hook.Wait() {
				if d.Status != http.StatusAccepted {
					t.Errorf("%s %s: %d", d.Kind, d.Action, d.Status)
				}
			}
			if all := s.threads(); len(all) != len(flaws) {
				t.Errorf("threads %v\n%s", all, server.log.String())
			}
			s.says("review", "## Precedent", 1)
			if status := server.signal(syscall.SIGTERM); status != 0 {
				t.Errorf("status %d\n%s", status, server.log.String())
			}
			if n := strings.Count(server.log.String(), "msg=round "); n != 2 {
				t.Errorf("%d rounds\n%s", n, server.log.String())
			}
			if all := s.reviewJobs(); len(all) != 1 || all[0].Reason != "pull_request labeled" || all[0].State != queue.Done {
				t.Errorf("jobs %+v\n%s", all, server.log.String())
			}
		})
	}
}

// logs waits until the log has words so many times.
func (s *served) logs(words string, times int) {
	s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); strings.Count(s.log.String(), words) < times; {
		select {
		case <-tick.C:
		case <-deadline:
			s.t.Fatalf("the log does not have %q\n%s", words, s.log.String())
		}
	}
}
