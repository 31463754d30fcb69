//go:build unix

package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/llm/llmtest"
)

// TestPartialCanBeResumed: the reason is the server's; what was spent and how to
// continue is said, and the estimate of the resumed review has only what is left.
func TestPartialCanBeResumed(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := syntheticRepository(t, home, 1, 20)
	s := llmtest.OpenAI(t, func(r llmtest.Request) llmtest.Reply {
		if r.N < 3 {
			return llmtest.Reply{Text: nothing}
		}
		return llmtest.Reply{Status: 402, Message: "Insufficient credits on sk-canary-77"}
	})
	out, said := ends(t, precedent.ExitIncomplete, reviewWith(s.URL, home, repo, "--concurrency", "1"))
	said = strings.Join(strings.Fields(said), " ")
	if !strings.Contains(said, "tokens were spent, and 3 answers are stored; to continue without paying for them again, run the same command with --resume") {
		t.Errorf("standard error %q", said)
	}
	if !strings.Contains(out, "Insufficient credits") || strings.Contains(out+said, "canary") {
		t.Errorf("the server's reason is missing:\n%s", out)
	}
	estimated := func(more ...string) string {
		t.Helper()
		text, _ := ends(t, 0, reviewWith(s.URL, home, repo, append(more, "--estimate")...))
		return text
	}
	whole, left := parsed[estimate](t, estimated("--json")), parsed[estimate](t, estimated("--json", "--resume"))
	if whole.Kept != 0 || left.Kept != 3 || left.Requests != whole.Requests-3 || left.Usage.InputTokens >= whole.Usage.InputTokens {
		t.Errorf("whole %+v\nleft %+v", whole, left)
	}
	if text := estimated("--resume"); !strings.Contains(text, "without 3 answers stored by the unfinished review") {
		t.Error(text)
	}
}

// TestInterruptedCanBeResumed: an interrupted review says what it spent, and how to
// continue.
func TestInterruptedCanBeResumed(t *testing.T) {
	t.Parallel()
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
