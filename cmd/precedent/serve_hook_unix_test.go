//go:build unix

package main

import (
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/queue"
)

// TestServeGiteaHook: signed webhooks of Gitea lead a pull request from its label over a fix and CI to
// a person's review. The server, a process, does not poll meanwhile. Forgejo tells nothing of
// statuses: there a person's label leads to the second review. What is signed with another secret
// changes nothing, nor do the events that the server causes itself.
func TestServeGiteaHook(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]forgetest.GiteaKind{"Gitea": forgetest.Gitea127, "Forgejo": forgetest.Forgejo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServeStory(t, "timed", kind, ungated+oneFinder)
			s.relabel(label.None)
			s.had = s.door.stage.World.LabelsOf(s.pull)
			server := startServer(t, "timed", s.home, s.environ(), "--repositories", s.repoName(), "--engine", "command:editing", "--interval", "1h")
			server.logs(`"the server has started"`, 1)
			server.logs("result=nothing", 1) // the only poll
			repo := s.door.stage.World.Repo("octo", "app")
			address := "http://" + server.at + "/webhooks/gitea"
			forged := s.gitea.Hook(address, "another secret", repo)
			s.door.stage.World.Label(s.pull, maintainer, "area/doc")
			for _, d := range forged.Wait() {
				if d.Status != http.StatusUnauthorized {
					t.Errorf("forged %s: %d", d.Kind, d.Status)
				}
			}
			s.door.stage.World.Unlabel(s.pull, maintainer, "area/doc")
			hook := s.gitea.Hook(address, hookSecret, repo)
			s.door.stage.World.Label(s.pull, maintainer, labels.ReviewNeeded)
			server.logs("result=fix status="+string(label.CIPending), 1)
			s.labelled("review and fix", label.CIPending)
			s.says("review and fix", "**Pushed `"+shortID(s.id("feature"))+"`** to address 3 conversations", 1)
			want := []string{labels.Changes, labels.CIPending, labels.ReviewNeeded, labels.HumanReview}
			if kind == forgetest.Forgejo {
				s.sets(label.ReviewNeeded)
				want = slices.Delete(want, 2, 3)
			} else {
				s.report("lint", "success")
				server.logs(`reason="other checks may start"`, 1)
				s.door.stage.Clock.Pass(time.Minute)
				s.report("build", "success")
			}
			server.logs("result=review status="+string(label.HumanReview), 1)
			server.logs(`msg="job ended" kind=review`, strings.Count(server.log.String(), `msg="job started" kind=review`))
			if got := s.entered(); !slices.Equal(got, want) {
				t.Errorf("labels %q, want %q\n%s", got, want, server.log.String())
			}
			s.labelled("the end", label.HumanReview)
			s.says("the end", "## Precedent: clean, no findings", 1)
			s.says("the end", "**Pushed", 1)
			s.pushed("the end", 1)
			if all := s.threads(); len(all) != len(flaws) {
				t.Errorf("threads %v\n%s", all, server.log.String())
			}
			for _, d := range hook.Wait() {
				if d.Status != http.StatusAccepted {
					t.Errorf("%s %s: %d", d.Kind, d.Action, d.Status)
				}
			}
			if status := server.signal(syscall.SIGTERM); status != 0 {
				t.Errorf("status %d\n%s", status, server.log.String())
			}
			if all := s.reviewJobs(); len(all) != 1 || strings.HasPrefix(all[0].Reason, "poll") || all[0].State != queue.Done {
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
