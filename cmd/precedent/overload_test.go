//go:build unix

package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// reviewWith is a review with the model of a scripted server.
func reviewWith(url, home, repo string, args ...string) *exec.Cmd {
	args = append([]string{"review", "HEAD~1", "--deep", "--engine", "openai", "--memory-db", filepath.Join(home, "m.db")}, args...)
	cmd := precedentCmd(home, repo, args...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=sk-canary-77", "PRECEDENT_MODEL=scripted")
	return cmd
}

// TestPartialCanBeResumed: the reason is the server's; what was spent and how to
// continue is said, also if the review is interrupted, and the estimate of the resumed review has only what is left.
// Also after SIGKILL, what was answered is not asked again.
func TestPartialCanBeResumed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := filepath.Join(home, "repo")
	runGit(t, home, home, "init", "-q", repo)
	for _, version := range []string{"before", "after"} {
		writeFile(t, filepath.Join(repo, "a.ts"), strings.Repeat("export const "+version+" = 1\n", 20), 0o644)
		runGit(t, home, repo, "add", "-A")
		runGit(t, home, repo, "commit", "-q", "-m", version)
	}
	const resumed = "3 answers are stored; to continue without paying for them again, run the same command with --resume"
	answersThree := func(then func() llmtest.Reply) string {
		return llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
			if r.N < 3 {
				return llmtest.Reply{Text: nothing}
			}
			return then()
		}).URL
	}
	var interrupted *exec.Cmd
	url := answersThree(func() llmtest.Reply {
		_ = interrupted.Process.Signal(syscall.SIGINT) // it runs
		return llmtest.Reply{Hold: llmtest.Never}
	})
	interrupted = reviewWith(url, home, repo, "--concurrency", "1", "--memory-db", filepath.Join(home, "interrupted.db"))
	_, said := ends(t, exitInterrupted, interrupted)
	said = strings.Join(strings.Fields(said), " ")
	if !strings.Contains(said, "precedent: interrupted hint: about ") || !strings.Contains(said, resumed) {
		t.Errorf("interrupted: %q", said)
	}
	url = answersThree(func() llmtest.Reply {
		return llmtest.Reply{Status: 402, Message: "Insufficient credits on sk-canary-77"}
	})
	out, said := ends(t, precedent.ExitIncomplete, reviewWith(url, home, repo, "--concurrency", "1"))
	if said = strings.Join(strings.Fields(said), " "); !strings.Contains(said, "tokens were spent, and "+resumed) {
		t.Errorf("standard error %q", said)
	}
	if !strings.Contains(out, "Insufficient credits") || strings.Contains(out+said, "canary") {
		t.Errorf("the server's reason is missing:\n%s", out)
	}
	estimated := func(more ...string) string {
		t.Helper()
		text, _ := ends(t, 0, reviewWith(url, home, repo, append(more, "--estimate")...))
		return text
	}
	whole, left := parsed[estimate](t, estimated("--json")), parsed[estimate](t, estimated("--json", "--resume"))
	if whole.Kept != 0 || left.Kept != 3 || left.Requests != whole.Requests-3 || left.Usage.InputTokens >= whole.Usage.InputTokens {
		t.Errorf("whole %+v\nleft %+v", whole, left)
	}
	if text := estimated("--resume"); !strings.Contains(text, "without 3 answers stored by the unfinished review") {
		t.Error(text)
	}

	// Fault row 38.
	db := filepath.Join(home, "killed.db")
	var killed *exec.Cmd
	server := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		if r.N != 3 {
			return llmtest.Reply{Text: nothing}
		}
		_ = killed.Process.Kill() // it runs
		return llmtest.Reply{Hold: llmtest.Never}
	})
	killed = reviewWith(server.URL, home, repo, "--concurrency", "1", "--memory-db", db)
	finished(t, killed)
	out, _ = ends(t, 0, reviewWith(server.URL, home, repo, "--json", "--memory-db", db, "--resume"))
	r := parsed[precedent.Review](t, out)
	if n := len(server.Requests()); n != whole.Requests+1 || r.Verdict != precedent.Clean {
		t.Errorf("verdict %s after %d requests, of %d", r.Verdict, n, whole.Requests)
	}
	if after := parsed[estimate](t, estimated("--json", "--resume", "--memory-db", db)); after.Kept != 0 {
		t.Errorf("%d answers are left after the review is complete", after.Kept)
	}
}
