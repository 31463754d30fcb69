package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestServeReviews: the operator's reviews say what leads to a review where the policy does not.
func TestServeReviews(t *testing.T) {
	for _, test := range []struct {
		name, reviews, policy string
		reviewed              bool
	}{
		{"the default wants somebody to ask", "", "", false},
		{"the operator's", "push,open", "", true},
		{"none", "none", "", false},
		{"the policy first", "open", "reviews: {on: [command]}\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newShopPull(t)
			if test.policy != "" {
				s.base(test.policy)
			}
			s.app.env["PRECEDENT_REVIEWS"], s.app.env["PRECEDENT_GATES"] = test.reviews, "false"
			status, said := s.run("serve", "--once", "--repositories", s.repoName())
			if n := len(s.shown(forge.OnLine)); status != 0 || (n > 0) != test.reviewed {
				t.Errorf("status %d, %d comments, reviewed: %v\n%s", status, n, test.reviewed, said)
			}
		})
	}
}

// TestServeLastWords: what was said right before a pull request was merged counts, and so does a reaction to the last
// answer, of which a forge sends no event.
func TestServeLastWords(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	serve := func() {
		t.Helper()
		if status, said := s.run("serve", "--once", "--repositories", s.repoName()); status != 0 {
			t.Fatalf("status %d\n%s", status, said)
		}
	}
	serve()
	world := s.door.stage.World
	world.Say(s.pull, dana, "", "@precedent remember this: amounts are in cents")
	serve()
	answers := s.answers()
	if len(answers) != 1 || !strings.Contains(string(answers[0].Body), "pending") {
		t.Fatalf("%s", string(answers[0].Body))
	}
	world.React(s.pull, forge.CommentRef{Kind: forge.OnThread, ID: answers[0].ID}, maintainer, "+1")
	world.Say(s.pull, maintainer, "", "@precedent remember this: prices are rounded up")
	world.Change(func() { s.pull.State = forge.Merged })
	serve()
	said := ""
	for _, c := range s.answers() {
		said += string(c.Body)
	}
	if !strings.Contains(said, "Approved by mona") || !strings.Contains(said, "prices are rounded up") {
		t.Errorf("it says\n%s", said)
	}
}

// TestServeAlone: a second server on the same file ends with an error, and changes nothing.
func TestServeAlone(t *testing.T) {
	t.Parallel()
	s := newShopPull(t)
	release := needs.Value(s.app.holdServer(t.Context(), s.app.workflow().DataDir))(t)
	for _, want := range []int{precedent.ExitUsage, precedent.ExitClean} {
		status, said := s.run("serve", "--once", "--repositories", s.repoName())
		if status != want || strings.Contains(said, "another server uses") != (want == precedent.ExitUsage) {
			t.Errorf("status %d, want %d\n%s", status, want, said)
		}
		release()
	}
}

// repoName is the repository as --repositories takes it.
func (s *prStage) repoName() string {
	if s.real != nil {
		return s.pull.Base.Repo.String()
	}
	return s.door.URL[len("http://"):] + "/octo/app"
}

// jobsOf are the jobs of a kind of the server.
func (s *prStage) jobsOf(kind queue.Kind) []queue.Job {
	s.t.Helper()
	q, end := openServer(s.t, s.home, s.app.env[databaseVariable])
	defer end()
	all := needs.Value(q.List(s.t.Context(), queue.Filter{Kind: kind}))(s.t)
	return all
}

// serverFile is the database of a server on SQLite.
func serverFile(home string) string {
	return filepath.Join(home, ".local", "share", "precedent", workspace.InstallationFile)
}

// openServer opens the database of a server, at the URL if there is one, and its queue, until end is
// called.
func openServer(t testing.TB, home, url string) (q *queue.Queue, end func()) {
	t.Helper()
	var db *store.DB
	var err error
	if url == "" {
		db, err = store.Open(t.Context(), serverFile(home), store.Options{})
	} else {
		db, err = store.OpenURL(t.Context(), url, store.Options{})
	}
	if err == nil {
		q, err = queue.Open(t.Context(), db, queue.Options{})
	}
	needs.NoError(t, err)
	return q, func() { _ = q.Stop(t.Context()); _ = db.Close() }
}
