// Package pulltest is the stage for tests of pull requests: a simulated forge, a clone and a scripted engine.
package pulltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/forge/wire"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// MarkerKey signs the comments of tests.
const MarkerKey = "5d20ab8f14e963c7" + "f9c8317e6ea2bd45" // opens nothing

// Findings are what the scripted engine finds: two lines of till.js.
var Findings = map[string]string{
	"  return sum / items.length": "The average of an empty list is NaN",
	"  ledger.total -= amount":    "A refund can exceed what was paid",
}

// Till is the file that the pull request adds.
const Till = `function refund(ledger, amount) {
  ledger.total -= amount
  return ledger
}

function average(items) {
  let sum = 0
  for (const i of items) sum += i.price
  return sum / items.length
}
`

// Engine is an engine that finds the findings, once everybody is there who is waited for.
type Engine struct {
	Arrive func(ctx context.Context) error
	mu     sync.Mutex
	Asked  int
	USD    float64 // of each answer
}

// Info describes the engine.
func (s *Engine) Info() engine.Info {
	return engine.Info{Name: "scripted", Line: "scripted, on this machine", Who: "scripted"}
}

// Run answers with the findings. The first call waits for Arrive.
func (s *Engine) Run(ctx context.Context, t engine.Task) (engine.Answer, error) {
	s.mu.Lock()
	s.Asked++
	first := s.Asked == 1
	s.mu.Unlock()
	if first {
		if err := s.Arrive(ctx); err != nil {
			return engine.Answer{}, err
		}
	}
	var answer any
	switch t.Role {
	case engine.Finder:
		found := []map[string]any{}
		for quote, title := range Findings {
			if t.Name == "general" && strings.Contains(t.User(), quote) {
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
	return engine.Answer{Status: precedent.StatusOK, JSON: data, Usage: precedent.Usage{Requests: 1}, CostUSD: s.USD}, err
}

// Git runs git in a folder with an identity of its own.
func Git(t *testing.T, home, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=dana", "GIT_"+who+"_EMAIL=dana@example.org",
			"GIT_"+who+"_DATE=2026-01-05T09:00:00Z")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Repository makes a repository whose branch feature adds till.js to main.
func Repository(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(home, "work")
	Git(t, home, home, "init", "-q", "-b", "main", dir)
	for _, file := range []struct{ branch, name, text string }{{"main", "a.txt", "one\n"}, {"feature", "till.js", Till}} {
		if file.branch != "main" {
			Git(t, home, dir, "checkout", "-q", "-b", file.branch)
		}
		Commit(t, home, dir, file.name, map[string]string{file.name: file.text})
	}
	return dir
}

// Meeting returns what waits until n have come.
func Meeting(n int) func(ctx context.Context) error {
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

// Write writes a file of a work tree.
func Write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// ids counts the ids of all environments, so that each is given once.
var ids atomic.Int64

// NewEnv is the environment of commands and jobs, with the folders of a test.
func NewEnv(home string, clock *forgetest.Clock) *workspace.Env {
	return &workspace.Env{
		Now: clock.Now, Sleep: clock.Sleep, Log: slog.New(slog.DiscardHandler), Version: "test",
		NewID: func() string { return fmt.Sprintf("01980000-0000-7000-b000-%012x", ids.Add(1)) },
		Git:   git.Options{TempDir: home, Home: home}, DataDir: filepath.Join(home, "data"),
		CacheDir: filepath.Join(home, "cache"), Proxy: func(string) (string, error) { return "", nil },
	}
}

// Commit commits files, by name.
func Commit(t *testing.T, home, dir, message string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		Write(t, dir, name, text)
	}
	Git(t, home, dir, "add", "-A")
	Git(t, home, dir, "commit", "-q", "-m", message)
}

// Stage is a pull request on a scripted GitHub.
type Stage struct {
	*forgetest.Stage
	T      *testing.T
	Home   string
	Pull   *forgetest.Pull
	Client forge.Forge
}

// NewStage opens pull request 7 of acme/shop.
func NewStage(t *testing.T) *Stage {
	t.Helper()
	s := &Stage{Stage: forgetest.NewStage(t), T: t, Home: t.TempDir()}
	work := Repository(t, s.Home)
	Git(t, s.Home, work, "update-ref", "refs/pull/7/head", "feature")
	repo := precedent.Repo{Owner: "acme", Name: "shop"}
	s.Pull = &forgetest.Pull{
		PullRequest: forge.PullRequest{
			Number: 7, Title: "Add a till", Author: forgetest.Ann, State: forge.Open, Updated: forgetest.Epoch,
			Ref:  "refs/pull/7/head",
			Base: forge.Branch{Repo: repo, Name: "main", SHA: Git(t, s.Home, work, "rev-parse", "main")},
			Head: forge.Branch{Repo: repo, Name: "feature", SHA: Git(t, s.Home, work, "rev-parse", "feature")},
		},
		Files: 1, Diff: Git(t, s.Home, work, "diff", "main...feature") + "\n",
	}
	s.World.Add(&forgetest.Repo{
		ID: 700, Owner: "acme", Name: "shop", Pulls: map[int]*forgetest.Pull{7: s.Pull},
		Members: []forgetest.Member{
			{Person: forgetest.Ann, Permission: forge.Write},
			{Person: forgetest.Bot, Permission: forge.Write},
		},
	})
	s.Client = s.Connect(s.GitHub(t).URL)
	return s
}

// Connect returns a client of the scripted GitHub.
func (s *Stage) Connect(url string) forge.Forge {
	s.T.Helper()
	token, err := wire.NewToken(forgetest.Secret)
	if err != nil {
		s.T.Fatal(err)
	}
	client, err := github.New(github.Options{BaseURL: url, Token: token, Network: wire.Network{
		Now:   s.Clock.Now,
		Sleep: s.Clock.Sleep,
	}})
	if err != nil {
		s.T.Fatal(err)
	}
	return client
}
