package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// prStage is a forge on this machine and somebody who reviews from outside of
// any clone.
type prStage struct {
	t            testing.TB
	door         *frontDoor
	origin, home string
	pull         *forgetest.Pull
	real         *forgetest.Real // where the pull request is; nil if the door leads to a forge of forgetest
	app          *app
	out, err     bytes.Buffer
}

// newPRStage has the repository of defectiveRepository, whose branch feature is
// the pull request.
func newPRStage(t testing.TB) *prStage {
	t.Helper()
	s, _ := newPreparedStage(t, "pull", preparePull)
	return s
}

// newPreparedStage has the repositories of prepare, and returns what that says.
func newPreparedStage(t testing.TB, name string, prepare func(t testing.TB, home string) []string) (*prStage, []string) {
	t.Helper()
	s := &prStage{t: t, home: t.TempDir()}
	said := copyPrepared(t, s.home, name, func(home string) []string { return prepare(t, home) })
	s.origin = pullOrigin(s.home)
	s.door = openFrontDoor(t, filepath.Join(s.home, "forge"))
	s.pull = s.door.add(said[0], said[1], said[2])
	away := filepath.Join(s.home, "away")
	if err := os.Mkdir(away, 0o755); err != nil {
		t.Fatal(err)
	}
	s.app = &app{dir: away, now: time.Now, sleep: s.door.stage.Clock.Sleep, out: &s.out, err: &s.err, env: map[string]string{
		"HOME": s.home, "PATH": os.Getenv("PATH"), "TMPDIR": t.TempDir(),
		"GITHUB_API_URL": s.door.URL + "/api/v3", "GH_TOKEN": forgetest.Secret,
	}}
	return s, said
}

func (s *prStage) git(dir string, args ...string) string {
	s.t.Helper()
	return strings.TrimSuffix(runGit(s.t, s.home, dir, args...), "\n")
}

func (s *prStage) id(ref string) string { return s.git(s.origin, "rev-parse", ref) }

// review reviews the pull request and reads the result.
func (s *prStage) review(bend func(*bent)) (*precedent.Review, error) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	conn := s.connection()
	b := &bent{Forge: conn.Forge}
	conn.Forge = b
	if bend != nil {
		bend(b)
	}
	err := s.app.pr(s.t.Context(), conn, s.door.URL+"/octo/app/pull/7", reviewOptions{format: "json"})
	var status exitStatus
	if err != nil && !errors.As(err, &status) {
		return nil, err
	}
	var r precedent.Review
	if err := json.Unmarshal(s.out.Bytes(), &r); err != nil {
		s.t.Fatalf("%v\n%s", err, s.out.String())
	}
	if r.PullRequest == nil || *r.PullRequest != 7 {
		s.t.Errorf("the review is of pull request %v", r.PullRequest)
	}
	return &r, nil
}

// connection opens the forge that the environment names.
func (s *prStage) connection() workspace.Connection {
	s.t.Helper()
	c, err := s.app.connectWith(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// bent is a forge of which some answers are the test's.
type bent struct {
	forge.Forge
	asked      int
	pull       func(asked int, pr *forge.PullRequest) error
	comments   error
	permission error
	patch      error
}

func (b *bent) PullRequest(ctx context.Context, repo precedent.Repo, n int) (forge.PullRequest, error) {
	pr, err := b.Forge.PullRequest(ctx, repo, n)
	b.asked++
	if b.pull != nil && err == nil {
		err = b.pull(b.asked, &pr)
	}
	return pr, err
}

func (b *bent) Comments(ctx context.Context, repo precedent.Repo, n int) ([]forge.Comment, error) {
	if b.comments != nil {
		return nil, b.comments
	}
	return b.Forge.Comments(ctx, repo, n)
}

func (b *bent) Permission(ctx context.Context, repo precedent.Repo, p forge.Person) (forge.Permission, error) {
	if b.permission != nil {
		return forge.Admin, b.permission // an answer beside an error counts for nothing
	}
	return b.Forge.Permission(ctx, repo, p)
}

func (b *bent) Patch(ctx context.Context, repo precedent.Repo, n int) ([]byte, []precedent.SkippedFile, error) {
	if b.patch != nil {
		return nil, nil, b.patch
	}
	return b.Forge.Patch(ctx, repo, n)
}

// TestPullFollowsAMovedHead is row 18 of the fault matrix: a head that is gone is read again, and
// nothing is said about one that keeps moving.
func TestPullFollowsAMovedHead(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	stale := s.id("main")
	r, err := s.review(func(b *bent) {
		b.pull = func(asked int, pr *forge.PullRequest) error {
			if asked == 1 {
				pr.Head.SHA = stale
			}
			return nil
		}
	})
	if err != nil || r.Head != s.id("feature") {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = s.review(func(b *bent) {
		b.pull = func(_ int, pr *forge.PullRequest) error { pr.Head.SHA = stale; return nil }
	})
	if !errors.Is(err, git.ErrMoved) || !strings.Contains(hintOf(err), "try again") {
		t.Errorf("a head that keeps moving: %v, hint %q", err, hintOf(err))
	}
}

// TestPullKeepsTheTokenAtHome: git gets it for the forge's own host alone.
func TestPullKeepsTheTokenAtHome(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	other := openFrontDoor(t, filepath.Join(s.home, "forge"))
	if _, err := s.review(func(b *bent) {
		b.pull = func(_ int, pr *forge.PullRequest) error {
			pr.Base.CloneURL = other.URL + "/octo/app.git"
			return nil
		}
	}); err != nil {
		t.Error(err)
	}
	if other.fetches.Load() != 0 || !strings.Contains(s.err.String(), "forge's diff") {
		t.Errorf("the token was sent elsewhere, or it is not said:\n%s", s.err.String())
	}
	if strings.Contains(s.out.String()+s.err.String(), forgetest.Secret[4:12]) {
		t.Error("the token is shown")
	}
}

func TestPullThatIsEmpty(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.git(s.origin, "update-ref", "refs/pull/7/head", "refs/heads/main")
	s.door.stage.World.Change(func() { s.pull.Head.SHA = s.id("main") })
	r, err := s.review(nil)
	if err != nil || r.Verdict != precedent.Skipped {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestPullOfAPartialClone: what such a clone lacks is not missed.
func TestPullOfAPartialClone(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	s.git(s.origin, "config", "uploadpack.allowFilter", "true")
	clone := filepath.Join(s.home, "partial")
	s.git(s.home, "clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+s.origin, clone)
	s.git(clone, "remote", "set-url", "origin", s.door.URL+"/octo/app.git")
	s.app.dir = clone
	r, err := s.review(nil)
	if err != nil || len(r.Findings) == 0 || len(r.Failures) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(filepath.Join(clone, ".precedent", "memory.db")); err != nil {
		t.Errorf("the memory is elsewhere: %v", err)
	}
}
