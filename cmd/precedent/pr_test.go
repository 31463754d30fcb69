package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// prStage is a forge on this machine and somebody who reviews from outside of
// any clone.
type prStage struct {
	t            testing.TB
	door         *frontDoor
	home         string
	work, origin string // the repository of people, and that of the forge
	pull         *forgetest.Pull
	real         *forgetest.Real // where the pull request is; nil if the door leads to a forge of forgetest
	app          *app
	out, err     bytes.Buffer
}

// newPRStage has the repository of defectiveRepository, whose branch feature is
// the pull request.
func newPRStage(t testing.TB) *prStage {
	t.Helper()
	s := &prStage{t: t, home: t.TempDir()}
	s.work, s.origin = defectiveRepository(t, s.home, "work"), filepath.Join(s.home, "forge", "octo", "app.git")
	s.git(s.work, "clone", "-q", "--mirror", s.work, s.origin)
	s.git(s.origin, "update-ref", "refs/pull/7/head", "refs/heads/feature")
	s.door = openFrontDoor(t, filepath.Join(s.home, "forge"))
	s.pull = s.door.add(s.id("main"), s.id("feature"), s.git(s.origin, "diff", "main...feature"))
	away := filepath.Join(s.home, "away")
	needs.NoError(t, os.Mkdir(away, 0o755))
	s.app = &app{dir: away, now: time.Now, sleep: s.door.stage.Clock.Sleep, out: &s.out, err: &s.err, env: map[string]string{
		"HOME": s.home, "PATH": os.Getenv("PATH"), "TMPDIR": t.TempDir(),
		"GITHUB_API_URL": s.door.URL + "/api/v3", "GH_TOKEN": forgetest.Secret,
	}}
	return s
}

func (s *prStage) git(dir string, args ...string) string {
	s.t.Helper()
	return runGit(s.t, s.home, dir, args...)
}

func (s *prStage) id(ref string) string { return s.git(s.origin, "rev-parse", ref) }

// run runs precedent and returns its exit status and what it said.
func (s *prStage) run(args ...string) (int, string) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	status := s.app.run(s.t.Context(), args)
	return status, s.err.String()
}

// post runs precedent pr --post.
func (s *prStage) post(more ...string) (int, string) {
	s.t.Helper()
	return s.run(append([]string{"pr", s.door.URL + "/octo/app/pull/7", "--post"}, more...)...)
}

// writesNothing expects that what is done changes nothing on the forge.
func (s *prStage) writesNothing(step string, do func()) {
	s.t.Helper()
	before := len(s.door.stage.Script.Requests())
	do()
	for _, r := range s.door.stage.Script.Requests()[before:] {
		if r.Writes() && !strings.HasSuffix(r.Path, "/octo/app/labels") { // the repository gets its labels once
			s.t.Fatalf("%s: it sent %s %s", step, r.Method, r.Path)
		}
	}
}

// shown are the comments of ours of a kind, but not the answers to people.
func (s *prStage) shown(kind forge.CommentKind) (all []forge.Comment) {
	for _, c := range s.door.stage.World.By(s.pull, forgetest.Bot) {
		if c.Kind == kind && !isAnswer(c) {
			all = append(all, c)
		}
	}
	return all
}

// isAnswer tells whether a comment of ours answers a person's comment.
func isAnswer(c forge.Comment) bool {
	m, ok := (comment.Writer{}).Read(string(c.Body))
	return ok && m.Kind == comment.Answer
}

// toGitea moves the pull request to a server of Gitea's family.
func (s *prStage) toGitea(kind forgetest.GiteaKind) *forgetest.Gitea {
	s.t.Helper()
	s.door = &frontDoor{stage: forgetest.NewStage(s.t), token: forgetest.Secret}
	g := s.door.stage.Gitea(s.t)
	g.Kind = kind
	s.door.open(s.t, filepath.Join(s.home, "forge"), g.URL)
	g.URL = s.door.URL
	diff := s.git(s.origin, "diff", "main...refs/pull/7/head") + "\n"
	s.pull = s.door.add(s.id("main"), s.id("refs/pull/7/head"), diff)
	delete(s.app.env, "GITHUB_API_URL")
	delete(s.app.env, "GH_TOKEN")
	s.app.env["GITEA_TOKEN"], s.app.env["PRECEDENT_FORGE"] = forgetest.Secret, "gitea:"+s.door.URL
	s.app.sleep = s.door.stage.Clock.Sleep
	return g
}

// connection opens the forge that the environment names.
func (s *prStage) connection() workspace.Connection {
	s.t.Helper()
	c := needs.Value(s.app.connectWith(nil))(s.t)
	return c
}

// bent is a forge that tells of pull requests what the test says.
type bent struct {
	forge.Forge
	asked int
	bend  func(asked int, pr *forge.PullRequest)
}

func (b *bent) PullRequest(ctx context.Context, repo precedent.Repo, n int) (forge.PullRequest, error) {
	pr, err := b.Forge.PullRequest(ctx, repo, n)
	b.asked++
	b.bend(b.asked, &pr)
	return pr, err
}

// review reviews the pull request and reads the result.
func (s *prStage) review(bend func(asked int, pr *forge.PullRequest)) (r precedent.Review, err error) {
	s.t.Helper()
	s.out.Reset()
	s.err.Reset()
	conn := s.connection()
	conn.Forge = &bent{Forge: conn.Forge, bend: bend}
	err = s.app.pr(s.t.Context(), conn, s.door.URL+"/octo/app/pull/7", reviewOptions{format: "json"})
	var status exitStatus
	if err != nil && !errors.As(err, &status) {
		return r, err
	}
	r = parsed[precedent.Review](s.t, s.out.String())
	if r.PullRequest == nil || *r.PullRequest != 7 {
		s.t.Errorf("the review is of pull request %v", r.PullRequest)
	}
	return r, nil
}

// TestPullFollowsAMovedHead is row 18 of the fault matrix: a head that is gone is read again, and
// nothing is said about one that keeps moving.
func TestPullFollowsAMovedHead(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	for _, most := range []int{1, 100} {
		r, err := s.review(func(asked int, pr *forge.PullRequest) {
			if asked <= most {
				pr.Head.SHA = s.id("main")
			}
		})
		if most == 1 && (err != nil || r.Head != s.id("feature")) {
			t.Errorf("%+v, %v", r, err)
		} else if most > 1 && (!errors.Is(err, git.ErrMoved) || !strings.Contains(hintOf(err), "try again")) {
			t.Errorf("a head that keeps moving: %v, hint %q", err, hintOf(err))
		}
	}
}

// TestPullKeepsTheTokenAtHome: git gets it for the forge's own host alone.
func TestPullKeepsTheTokenAtHome(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	other := openFrontDoor(t, filepath.Join(s.home, "forge"))
	_, err := s.review(func(_ int, pr *forge.PullRequest) { pr.Base.CloneURL = other.URL + "/octo/app.git" })
	if err != nil || other.fetches.Load() != 0 || !strings.Contains(s.err.String(), "forge's diff") {
		t.Errorf("the token was sent elsewhere, or it is not said: %v\n%s", err, s.err.String())
	}
	if strings.Contains(s.out.String()+s.err.String(), forgetest.Secret[4:12]) {
		t.Error("the token is shown")
	}
}
