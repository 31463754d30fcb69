package main

import (
	"database/sql"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// reviewWith is a review with the model of a scripted server.
func reviewWith(url, home, repo string, args ...string) *exec.Cmd {
	args = append([]string{"review", "--deep", "--engine", "openai", "--memory-db", filepath.Join(home, "m.db")}, args...)
	cmd := precedentCmd(home, repo, args...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=sk-canary-77", "PRECEDENT_MODEL=scripted")
	return cmd
}

func parseReview(t *testing.T, cmd *exec.Cmd, status int) precedent.Review {
	t.Helper()
	out, said := ends(t, status, cmd)
	if strings.Contains(out+said, "canary") {
		t.Errorf("the key shows:\n%s%s", out, said)
	}
	return parsed[precedent.Review](t, out)
}

func generalRun(t *testing.T, r precedent.Review) precedent.FinderRun {
	t.Helper()
	for _, f := range r.Finders {
		if f.Name == "general" {
			return f
		}
	}
	t.Fatal("no finder general")
	return precedent.FinderRun{}
}

// TestResumePaysNothingTwice kills a review in its middle and goes on: what was
// answered and kept is not asked again, and the result is that of a calm review.
func TestResumePaysNothingTwice(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := syntheticRepository(t, home, 40, 200)
	var most atomic.Int64 // requests that are answered
	most.Store(math.MaxInt64)
	half := make(chan struct{})
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		if n := int64(r.N) + 1; n == most.Load() {
			close(half)
		} else if n < most.Load() {
			return llmtest.Reply{Text: nothing, Usage: &precedent.Usage{InputTokens: 1000, CachedTokens: 400, OutputTokens: 50}}
		}
		return llmtest.Reply{Hold: llmtest.Never}
	})
	other := filepath.Join(home, "calm.db")
	calm := parseReview(t, reviewWith(s.URL, home, repo, "--json", "--quiet", "--memory-db", other), 0)
	shards := len(s.Requests())
	if shards < 4 {
		t.Fatalf("only %d requests: nothing to interrupt", shards)
	}

	db := filepath.Join(home, "killed.db")
	most.Store(int64(shards + shards/2))
	killed := reviewWith(s.URL, home, repo, "--json", "--quiet", "--memory-db", db)
	needs.NoError(t, killed.Start())
	<-half
	_ = killed.Process.Kill()
	_ = killed.Wait()

	kept := func() (n int) {
		t.Helper()
		in, err := sql.Open("sqlite", db)
		if err == nil {
			defer in.Close()
			err = in.QueryRowContext(t.Context(), "SELECT count(*) FROM answers").Scan(&n)
		}
		needs.NoError(t, err)
		return n
	}
	before, asked := kept(), len(s.Requests())
	if before == 0 {
		t.Fatal("no answer was kept before the kill")
	}
	most.Store(math.MaxInt64)
	resumed := parseReview(t, reviewWith(s.URL, home, repo, "--json", "--quiet", "--memory-db", db, "--resume"), 0)
	again := map[string]bool{} // without what the killed process asked and the server reads only now
	for _, r := range s.Requests()[asked:] {
		again[string(r.Body)] = true
	}
	if len(again) != shards-before {
		t.Errorf("%d requests after the kill, want %d: %d of %d answers were kept", len(again), shards-before, before, shards)
	}
	if a, b := generalRun(t, calm), generalRun(t, resumed); a.Usage != b.Usage || calm.Verdict != resumed.Verdict || calm.Coverage.HunksRead != resumed.Coverage.HunksRead {
		t.Errorf("calm %+v %s, resumed %+v %s", a.Usage, calm.Verdict, b.Usage, resumed.Verdict)
	}
	if left := kept(); left != 0 {
		t.Errorf("%d answers are left after the review is complete", left)
	}
}
