package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestServeOnce: serve --once finds a pull request, reviews it, and does nothing when it looks
// again.
func TestServeOnce(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	s.door.stage.World.Change(func() { s.pull.Labels = append(s.pull.Labels, "bot-review-needed") })
	s.app.env["PRECEDENT_FIXES"] = "false"
	serve := func() {
		t.Helper()
		s.err.Reset()
		if status := s.app.run(t.Context(), []string{"serve", "--once", "--repositories", s.repoName()}); status != 0 {
			t.Fatalf("status %d\n%s", status, s.err.String())
		}
	}
	serve()
	if n := len(s.shown(forge.OnLine)); n != 3 {
		t.Fatalf("%d comments\n%s", n, s.err.String())
	}
	before := len(s.door.stage.Script.Requests())
	serve()
	if n := len(s.shown(forge.OnLine)); n != 3 {
		t.Errorf("%d comments after another look", n)
	}
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Writes() {
			t.Errorf("%s %s", r.Method, r.Path)
		}
	}
}

// TestServeReviews: the operator's reviews say what leads to a review where the policy does not, from
// each source of a setting.
func TestServeReviews(t *testing.T) {
	for _, test := range []struct {
		name, file, env, flag, policy string
		reviewed                      bool
	}{
		{"the default wants somebody to ask", "", "", "", "", false},
		{"file", "reviews: [open]", "", "", "", true},
		{"environment", "", "push,open", "", "", true},
		{"flag over environment", "reviews: [open]", "open", "label", "", false},
		{"flag", "", "", "open", "", true},
		{"none", "", "", "none", "", false},
		{"the policy first", "", "", "open", "reviews: {on: [command]}\n", false},
		{"the policy alone", "", "", "none", "reviews: {on: [open]}\n", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newShopPull(t)
			if test.policy != "" {
				s.base(test.policy)
			}
			config := filepath.Join(s.home, ".config", "precedent", "config.yaml")
			if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(config, []byte(test.file+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s.app.env["PRECEDENT_REVIEWS"], s.app.env["PRECEDENT_GATES"] = test.env, "false"
			args := []string{"serve", "--once", "--repositories", s.repoName()}
			if test.flag != "" {
				args = append(args, "--reviews", test.flag)
			}
			if status := s.app.run(t.Context(), args); status != 0 {
				t.Fatalf("status %d\n%s", status, s.err.String())
			}
			if n := len(s.shown(forge.OnLine)); (n > 0) != test.reviewed {
				t.Errorf("%d comments, reviewed: %v\n%s", n, test.reviewed, s.err.String())
			}
		})
	}
}

// TestServeAlone: a second server on the same file ends with an error, and changes nothing.
func TestServeAlone(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	serve := []string{"serve", "--once", "--repositories", s.repoName()}
	release, err := s.app.holdServer(t.Context(), s.app.workflow().DataDir)
	if err != nil {
		t.Fatal(err)
	}
	if status := s.app.run(t.Context(), serve); status != precedent.ExitUsage ||
		!strings.Contains(s.err.String(), "another server uses") {
		t.Errorf("status %d\n%s", status, s.err.String())
	}
	release()
	if status := s.app.run(t.Context(), serve); status != 0 {
		t.Errorf("after it ended: status %d\n%s", status, s.err.String())
	}
}

// repoName is the repository as --repositories takes it.
func (s *prStage) repoName() string {
	if s.real != nil {
		return s.pull.Base.Repo.String()
	}
	return s.door.URL[len("http://"):] + "/octo/app"
}

// reviewJobs are the jobs for reviews of a server, in all states if none is named.
func (s *prStage) reviewJobs(states ...queue.State) []queue.Job {
	s.t.Helper()
	return slices.DeleteFunc(s.jobsOf(queue.Review), func(j queue.Job) bool {
		return len(states) > 0 &&
			!slices.Contains(states, j.State)
	})
}

// jobsOf are the jobs of a kind of the server.
func (s *prStage) jobsOf(kind queue.Kind) []queue.Job {
	s.t.Helper()
	_, q, end := openServer(s.t, s.home, s.app.env[databaseVariable])
	defer end()
	all, err := q.List(s.t.Context(), queue.Filter{Kind: kind})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// serverFile is the database of a server on SQLite.
func serverFile(home string) string {
	return filepath.Join(home, ".local", "share", "precedent", workspace.InstallationFile)
}

// openServer opens the database of a server, at the URL if there is one, and its queue, until end is
// called.
func openServer(t testing.TB, home, url string) (db *store.DB, q *queue.Queue, end func()) {
	t.Helper()
	var err error
	if url == "" {
		db, err = store.Open(t.Context(), serverFile(home), store.Options{})
	} else {
		db, err = store.OpenURL(t.Context(), url, store.Options{})
	}
	if err == nil {
		q, err = queue.Open(t.Context(), db, queue.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return db, q, func() { _ = q.Stop(t.Context()); _ = db.Close() }
}
