package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// withoutSandbox is how a machine without a sandbox answers.
func withoutSandbox(context.Context) (sandbox.Sandbox, error) {
	return sandbox.Sandbox{}, &sandbox.NoneError{Why: []string{"no namespaces"}, Hint: "another machine"}
}

// TestRunLocal: where there is no sandbox, run_local in the user's configuration lets
// precedent gate run the commands of the user's own work tree. Nothing else runs one: not pr, not
// fix, not serve.
func TestRunLocal(t *testing.T) {
	s := newRounds(t)
	s.app.box = withoutSandbox
	proof := filepath.Join(t.TempDir(), "ran")
	s.base("gate:\n  commands:\n    - {name: test, run: 'touch " + proof + "; cat news.txt'}\n")
	if err := os.WriteFile(filepath.Join(s.work, "news.txt"), []byte("uncommitted news\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	away := s.app.dir
	run := func(want int, args ...string) (out, said string) {
		t.Helper()
		s.out.Reset()
		s.err.Reset()
		s.app.dir = away
		if args[0] == "gate" {
			s.app.dir = s.work
		}
		if status := s.app.run(t.Context(), args); status != want {
			t.Errorf("%q: status %d, want %d\n%s%s", args, status, want, s.out.String(), s.err.String())
		}
		return s.out.String(), s.err.String()
	}
	ran := func() bool {
		err := os.Remove(proof)
		return err == nil
	}

	out, said := run(3, "gate")
	if !strings.Contains(out, "gate skipped: no sandbox") || !strings.Contains(said, "run_local: true into "+filepath.Join(s.home, ".config")) || ran() {
		t.Errorf("without run_local:\n%s%s", out, said)
	}
	config := filepath.Join(s.home, ".config", "precedent", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte("run_local: true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said = run(0, "gate")
	if !strings.Contains(out, "gate passed") || !strings.Contains(said, "the commands run with your permissions") || !ran() {
		t.Errorf("with run_local:\n%s%s", out, said)
	}
	s.app.env["GITHUB_TOKEN"] = "ghp_secret"
	out, _ = run(0, "gate", "--json")
	var report gateReport
	if err := json.Unmarshal([]byte(out), &report); err != nil || report.Where != "local" || len(report.Commands) != 1 || report.Commands[0].Output != "uncommitted news" || !ran() {
		t.Errorf("%v\n%s", err, out)
	}
	for _, v := range s.app.localEnvironment() {
		if strings.Contains(v, "ghp_secret") {
			t.Errorf("a command gets %s", v)
		}
	}
	delete(s.app.env, "GITHUB_TOKEN")

	// The rest ignores it.
	url := s.door.URL + "/octo/app/pull/7"
	run(1, "pr", url, "--post", "--fail-on", "medium")
	s.fixes(tillFile + "// better\n")
	if _, said = run(1, "fix", url); !strings.Contains(said, "the gate was skipped: no sandbox") {
		t.Errorf("fix: %s", said)
	}
	s.relabel(label.ReviewNeeded)
	s.app.env["PRECEDENT_FIXES"] = "false"
	s.push("More", map[string]string{"src/till.js": tillFile + "// more\n"})
	run(0, "serve", "--once", "--repositories", s.repoName())
	if len(s.shown(forge.OnLine)) == 0 {
		t.Error("the server posted no review")
	}
	if ran() {
		t.Error("a command of a pull request ran without a sandbox")
	}
}

// TestRunLocalIsNoPolicy: a repository cannot set run_local.
func TestRunLocalIsNoPolicy(t *testing.T) {
	s := newShopPull(t)
	s.app.box, s.app.dir = withoutSandbox, s.work
	proof := filepath.Join(t.TempDir(), "ran")
	policy := "run_local: true\ngate: {run_local: true, commands: [{name: test, run: 'touch " + proof + "'}]}\n"
	s.base(policy)
	s.app.env[strings.Join([]string{"PRECEDENT", "RUN", "LOCAL"}, "_")] = "true" // no setting has this name
	if status := s.app.run(t.Context(), []string{"gate"}); status != 3 {
		t.Errorf("status %d", status)
	}
	if said := s.err.String(); !strings.Contains(said, "unknown key") {
		t.Errorf("%s", said)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran")
	}
}
