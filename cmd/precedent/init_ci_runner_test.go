package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestWorkflowInRunner runs the workflow of init --ci as a release writes it, in the runner that those of Gitea and
// Forgejo are made from: it downloads the program and reviews the pull request. It posts unless that is from a fork.
func TestWorkflowInRunner(t *testing.T) {
	needs.Soak(t, "starts act")
	act := needs.Program(t, "PRECEDENT_TEST_ACT", "act", "act")
	program := needs.Value(exec.LookPath("precedent"))(t)
	version, commit := "v1.2.3", strings.Repeat("ab", 20)
	releases, _ := releaseServer(t, version, "#!/bin/sh\nexec "+program+` "$@"`+"\n")
	args := []string{
		"pull_request", "--platform", "ubuntu-latest=-self-hosted", "--secret", "GITHUB_TOKEN=" + forgetest.Secret,
		"--action-offline-mode", "--env", "FROM=" + releases, "--env", "PRECEDENT_CONSOLIDATION=off", "--env", "GITHUB_REPOSITORY=octo/app",
	}
	// Its copy of the action is that of the work tree, without what tests download. GitHub's actions keep folders between
	// runs, on its servers: others stand for them.
	action, others := t.TempDir(), t.TempDir()
	args = append(args, "--local-repository", "precedent-dev/precedent@"+commit+"="+action)
	for _, name := range []string{"action.yml", "scripts/install.sh"} {
		writeFile(t, filepath.Join(action, name), read(t, filepath.Join("..", "..", name)), 0o600)
	}
	for _, step := range readAction(t).Runs.Steps {
		if name, ref, used := strings.Cut(step.Uses, "@"); used {
			writeFile(t, filepath.Join(others, name, "action.yml"), "runs:\n  using: composite\n  steps: []\n", 0o600)
			parts := strings.Split(name, "/")
			repo := strings.Join(parts[:2], "/")
			args = append(args, "--local-repository", repo+"@"+ref+"="+filepath.Join(others, repo))
		}
	}
	for name, test := range map[string]struct {
		from, says string
		posts      bool
	}{
		"a pull request": {"octo/app", "4 remarks, 1 summary posted", true},
		"of a fork":      {"someone/app", "::error file=", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPRStage(t)
			top := t.TempDir()
			for _, f := range needs.Value(workflowsAt("github", ciFolders["github"], commit, version))(t) {
				writeFile(t, filepath.Join(top, f.name), string(f.data), 0o600)
			}
			event := filepath.Join(top, "event.json")
			writeFile(t, event, s.payload(fmt.Sprintf(`"pull_request": {"number": 7, "user": {"login": "newcomer"}, `+
				`"head": {"ref": "main", "sha": %q, "repo": {"full_name": %q}}}`, s.id("feature"), test.from)), 0o600)
			s.git(top, "init", "--quiet")
			s.git(top, "add", ".")
			s.git(top, "commit", "--quiet", "--message", "Review pull requests")
			before := len(s.pull.Comments)
			cmd := exec.CommandContext(t.Context(), act, slices.Concat(args, []string{
				"--eventpath", event, "--workflows", filepath.Join(top, ciFolders["github"], "precedent.yml"),
				"--env", "GITHUB_SERVER_URL=" + s.door.URL, "--env", "GITHUB_API_URL=" + s.door.URL + "/api/v3",
			})...)
			cmd.Dir, cmd.Env = top, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + t.TempDir()}
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.says) { // it fails for findings
				t.Errorf("%v\n%s", err, out)
			}
			if posted := len(s.pull.Comments) - before; (posted > 0) != test.posts {
				t.Errorf("%d comments were posted\n%s", posted, out)
			}
		})
	}
}
