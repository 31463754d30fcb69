package workflow

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/settings"
)

// markerKey signs the comments of tests.
const markerKey = "5d20ab8f14e963c7" + "f9c8317e6ea2bd45" // opens nothing

// findings are what the scripted engine finds: two lines of till.js.
var findings = map[string]string{
	"  return sum / items.length": "The average of an empty list is NaN",
	"  ledger.total -= amount":    "A refund can exceed what was paid",
}

const till = `function refund(ledger, amount) {
  ledger.total -= amount
  return ledger
}

function average(items) {
  let sum = 0
  for (const i of items) sum += i.price
  return sum / items.length
}
`

// scripted is an engine that finds the findings, once everybody is there who is
// waited for.
type scripted struct {
	arrive func(ctx context.Context) error
	mu     sync.Mutex
	asked  int
	usd    float64 // of each answer
}

func (s *scripted) Info() engine.Info {
	return engine.Info{Name: "scripted", Line: "scripted, on this machine", Who: "scripted"}
}

func (s *scripted) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	s.mu.Lock()
	s.asked++
	first := s.asked == 1
	s.mu.Unlock()
	if first {
		if err := s.arrive(ctx); err != nil {
			return engine.Answer{}, err
		}
	}
	var answer any
	switch t.Role {
	case engine.Finder:
		found := []map[string]any{}
		for quote, title := range findings {
			if t.Name == "bugs" && strings.Contains(t.User(), quote) {
				found = append(found, map[string]any{
					"path": "till.js", "quote": quote, "severity": "high", "confidence": 90, "category": "bugs",
					"title": title, "body": title + ", which every later sum inherits.",
				})
			}
		}
		answer = map[string]any{"findings": found, "summary": "Read it."}
	case engine.Verifier:
		answer = map[string]any{"verdicts": []any{}}
	case engine.Judge:
		answer = map[string]any{"pairs": []any{}}
	case engine.Threads:
		answer = map[string]any{"threads": []any{}}
	}
	data, err := json.Marshal(answer)
	return engine.Answer{Status: precedent.StatusOK, JSON: data, Usage: precedent.Usage{Requests: 1}, CostUSD: s.usd}, err
}

// stage is a pull request on a scripted GitHub.
type stage struct {
	*forgetest.Stage
	t          *testing.T
	home       string
	reviewer   *Reviewer
	connection Connection
	pull       *forgetest.Pull
}

// runGit runs git in a folder with an identity of its own.
func runGit(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=dana", "GIT_"+who+"_EMAIL=dana@example.org", "GIT_"+who+"_DATE=2026-01-05T09:00:00Z")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a repository whose branch feature adds till.js to main.
func repository(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "work")
	runGit(t, home, home, "init", "-q", "-b", "main", dir)
	for _, file := range []struct{ branch, name, text string }{{"main", "a.txt", "one\n"}, {"feature", "till.js", till}} {
		if file.branch != "main" {
			runGit(t, home, dir, "checkout", "-q", "-b", file.branch)
		}
		if err := os.WriteFile(filepath.Join(dir, file.name), []byte(file.text), 0o600); err != nil {
			t.Fatal(err)
		}
		runGit(t, home, dir, "add", "-A")
		runGit(t, home, dir, "commit", "-q", "-m", file.name)
	}
	return dir
}

func newReviewer(home string, clock *forgetest.Clock) *Reviewer {
	return &Reviewer{
		Now: clock.Now, Sleep: clock.Sleep, Log: slog.New(slog.DiscardHandler), Version: "test",
		NewID:   func() string { return uuid.Must(uuid.NewV7()).String() },
		Git:     git.Options{TempDir: home, Home: home},
		DataDir: filepath.Join(home, "data"), CacheDir: filepath.Join(home, "cache"),
		Proxy: func(string) (string, error) { return "", nil },
	}
}

// newStage opens pull request 7 of acme/shop.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Stage: forgetest.NewStage(t), t: t, home: t.TempDir()}
	work := repository(t, s.home)
	runGit(t, s.home, work, "update-ref", "refs/pull/7/head", "feature")
	repo := precedent.Repo{Owner: "acme", Name: "shop"}
	s.pull = &forgetest.Pull{
		PullRequest: forge.PullRequest{
			Number: 7, Title: "Add a till", Author: forgetest.Ann, State: forge.Open, Files: 1, Updated: forgetest.Epoch, Ref: "refs/pull/7/head",
			Base: forge.Branch{Repo: repo, Name: "main", SHA: runGit(t, s.home, work, "rev-parse", "main")},
			Head: forge.Branch{Repo: repo, Name: "feature", SHA: runGit(t, s.home, work, "rev-parse", "feature")},
		},
		Diff: runGit(t, s.home, work, "diff", "main...feature") + "\n",
	}
	s.World.Add(&forgetest.Repo{
		ID: 700, Owner: "acme", Name: "shop", Pulls: map[int]*forgetest.Pull{7: s.pull},
		Members: []forgetest.Member{{Person: forgetest.Ann, Permission: forge.Write}, {Person: forgetest.Bot, Permission: forge.Write}},
	})
	server := s.GitHub(t)
	token, err := wire.NewToken(forgetest.Secret)
	if err != nil {
		t.Fatal(err)
	}
	client, err := github.New(github.Options{BaseURL: server.URL, Token: token, Network: wire.Network{Now: s.Clock.Now, Sleep: s.Clock.Sleep}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := comment.NewKey(markerKey)
	if err != nil {
		t.Fatal(err)
	}
	s.reviewer = newReviewer(s.home, s.Clock)
	s.connection = Connection{
		Forge: client, Known: true, Key: key, Secrets: []string{forgetest.Secret}, Folder: filepath.Join(work, ".git"),
		Token: func(context.Context, precedent.Repo) (string, error) { return "", nil },
	}
	return s
}

func newJob(e engine.Engine) Job {
	return Job{
		Settings: &settings.Settings{FailOn: settings.Value[precedent.Severity]{Value: precedent.High}},
		Engine: EngineSetup{New: func(o EngineOptions) (engine.Engine, func() error) {
			return o.Budget.Within(e), func() error { return nil }
		}},
	}
}

// review reviews the pull request as a job of a server would, and posts the review.
// It returns the exit status, and whether a review stood there already.
func (s *stage) review(e engine.Engine) (status int, stood bool, err error) {
	return s.reviewPull(7, newJob(e))
}

func (s *stage) reviewPull(number int, job Job) (status int, stood bool, err error) {
	ctx := s.t.Context()
	repo, err := s.reviewer.OpenPullRepository(ctx, Location{Dir: s.home}, precedent.Repo{Host: s.connection.Host(), Owner: "acme", Name: "shop"})
	if err != nil {
		return 0, false, err
	}
	defer repo.Close()
	pull, err := s.reviewer.ReadPull(ctx, s.connection, repo, number)
	if err != nil {
		return 0, false, err
	}
	defer pull.Close()
	publisher, err := pull.Publisher(ctx)
	if err != nil {
		return 0, false, err
	}
	standing, found, err := publisher.Existing(ctx, job)
	if err != nil {
		return 0, false, err
	}
	if found {
		status, err = publisher.Finish(ctx, standing)
		return status, true, err
	}
	p, err := publisher.Prepare(ctx, job)
	if err != nil {
		return 0, false, err
	}
	defer p.Close()
	made, err := p.Run(ctx, Watch{})
	if err != nil {
		return 0, false, err
	}
	status, err = publisher.Deliver(ctx, p, made)
	return status, false, err
}

// comments counts what stands on the pull request, and lists the places of the
// remarks.
func (s *stage) comments() (summaries, reviews int, remarks []string) {
	for _, c := range s.World.By(s.pull, forgetest.Bot) {
		switch c.Kind {
		case forge.OnThread:
			summaries++
		case forge.OnReview:
			reviews++
		case forge.OnLine:
			remarks = append(remarks, c.Span.String())
		}
	}
	slices.Sort(remarks)
	return summaries, reviews, remarks
}

// meeting returns what waits until n have come.
func meeting(n int) func(ctx context.Context) error {
	var mu sync.Mutex
	all := make(chan struct{})
	return func(ctx context.Context) error {
		mu.Lock()
		if n--; n == 0 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestPullRequestsAtOnce: two pull requests are reviewed in one process at the same
// time. On each stand one review, one summary, and one comment a finding, also after
// a second run.
func TestPullRequestsAtOnce(t *testing.T) {
	stages := []*stage{newStage(t), newStage(t)}
	meet := meeting(len(stages))
	var running sync.WaitGroup
	for _, s := range stages {
		running.Go(func() {
			if status, stood, err := s.review(&scripted{arrive: meet}); status != precedent.ExitFindings || stood || err != nil {
				t.Errorf("status %d, stood %t, %v", status, stood, err)
			}
		})
	}
	running.Wait()
	for _, s := range stages {
		before := len(s.Script.Requests())
		for range 2 {
			summaries, reviews, remarks := s.comments()
			if got := strings.Join(remarks, " "); summaries != 1 || reviews != 1 || got != "till.js:2 till.js:9" {
				t.Errorf("%d summaries, %d reviews, remarks on %s", summaries, reviews, got)
			}
			again := &scripted{arrive: meeting(1)}
			if status, stood, err := s.review(again); status != precedent.ExitFindings || !stood || err != nil || again.asked != 0 {
				t.Errorf("again: status %d, stood %t, the engine was asked %d times, %v", status, stood, again.asked, err)
			}
		}
		read, listed := 0, 0
		for _, r := range s.Script.Requests()[:before] {
			if strings.Contains(r.Path, "/issues/7/comments") {
				listed++
			}
			if strings.HasSuffix(r.Path, "/pulls/7") && listed < 2 { // what is posted is looked for then
				read++
			}
		}
		if read != 1 {
			t.Errorf("the pull request was read %d times before anything was to be posted", read)
		}
	}
}

// TestFilesOfWhatIsNotCommitted: a model may look at a work tree as at a commit,
// and at the history that it stands on.
func TestFilesOfWhatIsNotCommitted(t *testing.T) {
	home := t.TempDir()
	work := repository(t, home)
	if err := os.WriteFile(filepath.Join(work, "new.txt"), []byte("new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newReviewer(home, forgetest.NewStage(t).Clock)
	repo, err := r.OpenRepository(t.Context(), Location{Dir: work})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	p, err := r.PrepareLocal(t.Context(), repo, git.Spec{Worktree: true}, newJob(&scripted{}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f := p.files(t.Context())
	list, err := f.List(t.Context(), precedent.Right)
	if err != nil || !slices.Contains(list, "new.txt") || !slices.Contains(list, "a.txt") {
		t.Errorf("files %v, %v", list, err)
	}
	before, err := f.List(t.Context(), precedent.Left)
	if err != nil || slices.Contains(before, "new.txt") || !slices.Contains(before, "a.txt") {
		t.Errorf("files of the base %v, %v", before, err)
	}
	if data, err := f.Read(t.Context(), precedent.Left, "new.txt", 100); err == nil {
		t.Errorf("new.txt of the base: %q", data)
	}
	if data, err := f.Read(t.Context(), precedent.Right, "new.txt", 100); err != nil || string(data) != "new\n" {
		t.Errorf("new.txt: %q, %v", data, err)
	}
	if log, err := f.History(t.Context(), "till.js"); err != nil || strings.Count(log, "dana") != 1 {
		t.Errorf("history of till.js: %q, %v", log, err)
	}
}
