package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent"
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
