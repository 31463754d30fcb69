//go:build unix

package main

import (
	"bytes"
	"encoding/json"
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
	cmd := precedentCmd(home, repo, append([]string{"review", "--deep", "--engine", "openai", "--memory-db", filepath.Join(home, "m.db")}, args...)...)
	cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=sk-canary-77", "PRECEDENT_MODEL=scripted")
	return cmd
}

// TestPartialCanBeResumed: the reason is the server's; what was spent and how to
// continue is said, and the estimate of the resumed review has only what is left.
func TestPartialCanBeResumed(t *testing.T) {
	home := t.TempDir()
	repo := syntheticRepository(t, home, 1, 20)
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		if r.N < 3 {
			return llmtest.Reply{Text: nothing}
		}
		return llmtest.Reply{Status: 402, Message: "Insufficient credits on sk-canary-77"}
	})
	cmd := reviewWith(s.URL, home, repo, "--concurrency", "1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != precedent.ExitIncomplete {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	said := strings.Join(strings.Fields(stderr.String()), " ")
	if !strings.Contains(said, "tokens were spent, and 3 answers are stored; to continue without paying for them again, run the same command with --resume") {
		t.Errorf("standard error %q", said)
	}
	if !strings.Contains(string(out), "Insufficient credits") || strings.Contains(string(out)+said, "canary") {
		t.Errorf("the server's reason is missing:\n%s", out)
	}
	whole, left := estimated(t, reviewWith(s.URL, home, repo, "--estimate", "--json")), estimated(t, reviewWith(s.URL, home, repo, "--estimate", "--json", "--resume"))
	if whole.Kept != 0 || left.Kept != 3 || left.Requests != whole.Requests-3 || left.Usage.InputTokens >= whole.Usage.InputTokens {
		t.Errorf("whole %+v\nleft %+v", whole, left)
	}
	text, err := reviewWith(s.URL, home, repo, "--estimate", "--resume").Output()
	if err != nil || !strings.Contains(string(text), "without 3 answers stored by the unfinished review") {
		t.Errorf("%v\n%s", err, text)
	}
}

func estimated(t *testing.T, cmd *exec.Cmd) (e estimate) {
	t.Helper()
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &e)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return e
}

// TestInterruptedCanBeResumed: an interrupted review says what it spent, and how to
// continue.
func TestInterruptedCanBeResumed(t *testing.T) {
	home := t.TempDir()
	repo := syntheticRepository(t, home, 1, 20)
	reached := make(chan struct{})
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		if r.N < 3 {
			return llmtest.Reply{Text: nothing}
		}
		close(reached)
		return llmtest.Reply{Hold: llmtest.Never}
	})
	cmd := reviewWith(s.URL, home, repo, "--concurrency", "1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	said := strings.Join(strings.Fields(stderr.String()), " ")
	if cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said, "precedent: interrupted hint: about ") ||
		!strings.Contains(said, "3 answers are stored; to continue without paying for them again, run the same command with --resume") {
		t.Errorf("ended with %d: %q", cmd.ProcessState.ExitCode(), said)
	}
}
