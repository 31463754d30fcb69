package main

import (
	"database/sql"
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
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
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
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

// TestSmallLocalModel: a server with a window of 8,192 tokens, without tools,
// without JSON mode. Told of the window, a review reads everything in small
// parts; not told, it ends with a status that says what to do.
func TestSmallLocalModel(t *testing.T) {
	t.Parallel()
	const window = 8192
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		switch asked := len(r.Body)/4 + r.MaxTokens; {
		case len(r.Tools) > 0:
			return llmtest.Reply{Status: http.StatusBadRequest, Message: "registry.example/small does not support tools"}
		case r.Format != "":
			return llmtest.Reply{Status: http.StatusBadRequest, Message: "response_format is not supported by this model"}
		case asked > window:
			return llmtest.Reply{Status: http.StatusBadRequest, Message: fmt.Sprintf(
				"This model's maximum context length is %d tokens. However, you requested %d tokens", window, asked)}
		case strings.Contains(r.System, "try to show that it is wrong"):
			return llmtest.Reply{Text: `{"verdicts":[]}`}
		}
		return llmtest.Reply{Text: "Sure!\n```json\n{\"findings\": [], \"summary\": \"nothing\",}\n```"}
	})
	home := t.TempDir()
	repo := syntheticRepository(t, home, 10, 120)
	review := func(status int, args ...string) precedent.Review {
		cmd := precedentCmd(home, repo, append([]string{"review", "--json", "--quiet"}, args...)...)
		cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+s.URL, "PRECEDENT_MODEL=small")
		return parseReview(t, cmd, status)
	}
	r := review(0, "--context", fmt.Sprint(window))
	if r.Verdict != precedent.Clean || r.Scope != precedent.FullScope || r.Coverage.HunksRead != r.Coverage.Hunks {
		t.Errorf("verdict %s, scope %s, %d of %d hunks read, finders %+v", r.Verdict, r.Scope, r.Coverage.HunksRead, r.Coverage.Hunks, r.Finders)
	}
	if run := generalRun(t, r); run.Requests < 3 {
		t.Errorf("%d requests: the change is not cut into parts", run.Requests)
	}
	r = review(3, "--again")
	if run := generalRun(t, r); r.Verdict != precedent.Failed || run.Status != precedent.StatusTruncated || !strings.Contains(run.Error, "--context 8192") {
		t.Errorf("verdict %s, run %+v", r.Verdict, run)
	}
}
