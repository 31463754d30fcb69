package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workflow"
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
func (s *prStage) connection() workflow.Connection {
	s.t.Helper()
	c, err := s.app.connectWith(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// places lists the findings' places.
func places(r *precedent.Review) string {
	var all []string
	for _, f := range r.Findings {
		all = append(all, f.Path)
	}
	return strings.Join(all, " ")
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

func TestNamedPull(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	for which, want := range map[string]string{
		"7": "#7", "#7": "#7", s.door.URL + "/octo/app/pull/7/files": "octo/app#7",
		"": "", "x": "", "octo/app/7": "", "https://elsewhere.example/octo/app/pull/7": "",
	} {
		repo, n, err := namedPull(s.connection(), which)
		if got := fmt.Sprintf("%s#%d", strings.TrimPrefix(repo.String(), repo.Host+"/"), n); err == nil && got != want || (err == nil) != (want != "") || err != nil && hintOf(err) == "" {
			t.Errorf("%q: %s, %v, hint %q", which, got, err, hintOf(err))
		}
	}
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

// TestPullFallsBackToTheForgesDiff is row 21 of the fault matrix: what git cannot fetch, such as a
// repository that is too large, is reviewed by the forge's diff, which the review says.
func TestPullFallsBackToTheForgesDiff(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	calm, err := s.review(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.home, ".cache")); err != nil {
		t.Fatal(err)
	}
	s.door.noGit.Store(true)
	r, err := s.review(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := places(r), places(calm); got != want {
		t.Errorf("findings in %q, with git in %q", got, want)
	}
	var steps []string
	for _, f := range r.Failures {
		steps = append(steps, f.Step)
	}
	if got := strings.Join(steps, " "); !strings.HasPrefix(got, "fetch ") || !strings.Contains(got, "guide") {
		t.Errorf("failures in %q: %+v", got, r.Failures)
	}
	if !strings.Contains(s.err.String(), "reviewing the forge's diff, without the files") {
		t.Errorf("it is not said:\n%s", s.err.String())
	}

	if _, err := s.review(func(b *bent) {
		b.patch = &forge.Error{Kind: forge.KindTooLarge, Msg: "the diff is too large"}
	}); err == nil || !strings.Contains(err.Error(), "the diff is too large") {
		t.Errorf("without a diff: %v", err)
	}
	if _, err := s.review(func(b *bent) {
		b.pull = func(asked int, pr *forge.PullRequest) error {
			if asked%2 == 0 {
				pr.Head.SHA = s.id("main")
			}
			return nil
		}
	}); !errors.Is(err, git.ErrMoved) {
		t.Errorf("a diff of another head: %v", err)
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

func TestPullWithoutADiscussion(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	for name, bend := range map[string]func(*bent){
		"comments":   func(b *bent) { b.comments = &forge.Error{Kind: forge.KindServer, Msg: "server is ill"} },
		"permission": func(b *bent) { b.permission = &forge.Error{Kind: forge.KindServer, Msg: "server is ill"} },
	} {
		r, err := s.review(bend)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Failures) == 0 || r.Failures[0].Step != "discussion" || !strings.Contains(r.Failures[0].Error, "server is ill") {
			t.Errorf("%s: failures %+v", name, r.Failures)
		}
		if len(r.Findings) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

func TestPullStates(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	for want, edit := range map[string]func(*forge.PullRequest){
		"is a draft":        func(pr *forge.PullRequest) { pr.Draft = true },
		"is closed":         func(pr *forge.PullRequest) { pr.State = forge.Closed },
		"is merged already": func(pr *forge.PullRequest) { pr.State = forge.Merged },
	} {
		if _, err := s.review(func(b *bent) {
			b.pull = func(_ int, pr *forge.PullRequest) error { edit(pr); return nil }
		}); err != nil || !strings.Contains(s.err.String(), want) {
			t.Errorf("%q is not said: %v\n%s", want, err, s.err.String())
		}
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

func TestPullTroubleOfTheForge(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	run := func() (int, string) {
		s.err.Reset()
		status := s.app.run(t.Context(), []string{"pr", s.door.URL + "/octo/app/pull/7"})
		return status, s.err.String()
	}
	s.door.api.Budget(0, time.Now().Add(time.Hour))
	if status, said := run(); status != precedent.ExitUsage || !strings.Contains(said, "hint: try again after ") {
		t.Errorf("rate limit: %d\n%s", status, said)
	}
	s.door.api.Budget(5000, time.Now().Add(time.Hour))
	if _, err := s.review(func(b *bent) {
		b.pull = func(int, *forge.PullRequest) error {
			return &forge.Error{Kind: forge.KindNetwork, Msg: "cannot be reached", Hint: "check the network"}
		}
	}); err == nil || hintOf(err) != "check the network" {
		t.Errorf("network: %v", err)
	}
	s.app.env["GH_TOKEN"] = "a b"
	if status, said := run(); status != precedent.ExitUsage || strings.Contains(said, "a b") || !strings.Contains(said, "hint: ") {
		t.Errorf("no token at all: %d\n%s", status, said)
	}
	s.app.env["GITHUB_API_URL"] = "http://code.example/api/v3"
	s.app.env["GH_TOKEN"] = forgetest.Secret
	if status, said := run(); status != precedent.ExitUsage || !strings.Contains(said, "must use https") {
		t.Errorf("plain http: %d\n%s", status, said)
	}
}

// TestPullGathers: guide and policy are the base's, not those of the merge base
// that an author can choose, of the head, or of somebody's work tree.
func TestPullGathers(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	work := filepath.Join(s.home, "work")
	s.git(work, "checkout", "-q", "main")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".precedent.yaml", "threshold: 61\n")
	write("CLAUDE.md", "# Rules\n\n- Name every constant.\n")
	s.git(work, "add", "-A")
	s.git(work, "commit", "-q", "-m", "stricter")
	s.git(work, "push", "-q", s.origin, "main")
	s.git(work, "remote", "set-url", "origin", s.door.URL+"/octo/app.git")
	write(".precedent.yaml", "threshold: 99\n")
	s.door.stage.World.Change(func() { s.pull.Base.SHA = s.id("main") })
	s.app.dir = work

	op, err := s.app.settings(nil)
	if err != nil {
		t.Fatal(err)
	}
	repo, number, _, err := s.app.pullRepository(t.Context(), s.connection(), "7", op)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	job, err := s.app.job(op, reviewOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pull, err := s.app.workflow().ReadPull(t.Context(), s.connection(), repo, number)
	if err != nil {
		t.Fatal(err)
	}
	defer pull.Close()
	p, err := pull.Prepare(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if kept, err := filepath.Glob(filepath.Join(s.home, ".cache", "precedent", "*.git")); err != nil || len(kept) > 0 {
		t.Errorf("the clone is not used: %v, %v", kept, err)
	}
	in := p.Input
	if in.Policy.Threshold == nil || *in.Policy.Threshold != 61 {
		t.Errorf("policy %+v", in.Policy)
	}
	if len(in.Guide.Docs) != 1 || len(in.Guide.Rules) != 1 || !strings.Contains(in.Guide.Rules[0].Text, "Name every constant") {
		t.Errorf("guide %+v", in.Guide)
	}
	if in.Base != s.id("main~1") || in.Head != s.id("feature") {
		t.Errorf("%s..%s, want the merge base and the head", in.Base, in.Head)
	}
	if got := string(in.Intent); got != "Greet [everybody](https://evil.example)\n\nSays hello." {
		t.Errorf("intent %q", got)
	}
	if len(in.Discussion.Directives) != 2 || in.Discussion.Claims == "" {
		t.Errorf("discussion %+v", in.Discussion)
	}
	if in.Target.Base != "main" || !strings.HasPrefix(in.Target.Head, "#7 Greet ") {
		t.Errorf("target %+v", in.Target)
	}
	if len(in.Failures) != 0 {
		t.Errorf("failures %+v", in.Failures)
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
