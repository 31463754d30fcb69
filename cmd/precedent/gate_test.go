package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/label"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// TestRunLocal: where there is no sandbox, run_local in the user's configuration lets
// precedent gate run the commands of the user's own work tree. Nothing else runs one: not pr, not
// fix, not serve. A repository cannot set it, and no variable does.
func TestRunLocal(t *testing.T) {
	t.Parallel()
	s := newRounds(t)
	s.app.box = func(context.Context) (sandbox.Sandbox, error) {
		return sandbox.Sandbox{}, &sandbox.NoneError{Why: []string{"no namespaces"}, Hint: "another machine"}
	}
	proof := filepath.Join(t.TempDir(), "ran")
	s.app.env[strings.Join([]string{"PRECEDENT", "RUN", "LOCAL"}, "_")] = "true" // no setting has this name
	s.base("run_local: true\ngate:\n  commands:\n    - {name: test, run: 'touch " + proof + "; cat news.txt'}\n")
	writeFile(t, filepath.Join(s.work, "news.txt"), "uncommitted news\n", 0o600)
	away := s.app.dir
	run := func(want int, args ...string) (out, said string) {
		t.Helper()
		if s.app.dir = away; args[0] == "gate" {
			s.app.dir = s.work
		}
		status, said := s.run(args...)
		if status != want {
			t.Errorf("%q: status %d, want %d\n%s%s", args, status, want, s.out.String(), said)
		}
		return s.out.String(), said
	}
	ran := func() bool { return os.Remove(proof) == nil }

	out, said := run(3, "gate")
	if !strings.Contains(out, "gate skipped: no sandbox") || !strings.Contains(said, `unknown key "run_local"`) || !strings.Contains(said, "run_local: true into "+filepath.Join(s.home, ".config")) || ran() {
		t.Errorf("without run_local:\n%s%s", out, said)
	}
	writeFile(t, filepath.Join(s.home, ".config", "precedent", "config.yaml"), "run_local: true\n", 0o600)
	out, said = run(0, "gate")
	if !strings.Contains(out, "gate passed") || !strings.Contains(said, "the commands run with your permissions") || !ran() {
		t.Errorf("with run_local:\n%s%s", out, said)
	}
	s.app.env["GITHUB_TOKEN"] = "ghp_secret"
	out, _ = run(0, "gate", "--json")
	report := parsed[gateReport](t, out)
	if report.Where != "local" || len(report.Commands) != 1 || report.Commands[0].Output != "uncommitted news" || !ran() {
		t.Errorf("%+v", report)
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
