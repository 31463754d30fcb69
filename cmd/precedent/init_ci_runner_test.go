package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// releaseServer serves a release for this machine, whose program is the given script, and returns its address and the
// checksum of its list of checksums.
func releaseServer(t *testing.T, version, program string) (address, sums string) {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Name: "precedent-" + version + "/precedent", Mode: 0o755, Size: int64(len(program))})
	_, written := archive.Write([]byte(program))
	needs.NoError(t, errors.Join(err, written, archive.Close(), zipped.Close()))
	name := "precedent-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"
	list := fmt.Sprintf("%x  %s\n", sha256.Sum256(packed.Bytes()), name)
	files := http.NewServeMux()
	files.HandleFunc("/download/"+version+"/SHA256SUMS", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(list)) })
	files.HandleFunc("/download/"+version+"/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(packed.Bytes()) })
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	return server.URL, fmt.Sprintf("%x", sha256.Sum256([]byte(list)))
}

// otherAction stands for the actions of GitHub that the action uses: they keep folders between runs, on its servers.
const otherAction = `
runs:
  using: composite
  steps: []
`

// TestWorkflowInRunner runs the workflow of init --ci as a release writes it, in the runner that those of Gitea and
// Forgejo are made from: it downloads the program, reviews the pull request and posts.
func TestWorkflowInRunner(t *testing.T) {
	needs.Soak(t, "starts act")
	act := needs.Program(t, "PRECEDENT_TEST_ACT", "act", "act")
	program := needs.Value(exec.LookPath("precedent"))(t)
	version, commit := "v1.2.3", strings.Repeat("ab", 20)
	releases, _ := releaseServer(t, version, "#!/bin/sh\nexec "+program+` "$@"`+"\n")
	for name, test := range map[string]struct {
		fork  bool
		says  string
		posts bool
	}{
		"a pull request": {false, "4 remarks, 1 summary posted", true},
		"of a fork":      {true, "::error file=", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newPRStage(t)
			top := t.TempDir()
			files := needs.Value(workflowsAt("github", ciFolders["github"], commit, version))(t)
			for _, f := range files {
				writeFile(t, filepath.Join(top, filepath.FromSlash(f.name)), string(f.data), 0o600)
			}
			// Its copy of the action is that of the work tree, without what tests download.
			action := t.TempDir()
			for _, name := range []string{"action.yml", "scripts/install.sh"} {
				name = filepath.FromSlash(name)
				writeFile(t, filepath.Join(action, name), read(t, filepath.Join("..", "..", name)), 0o600)
			}
			others := t.TempDir()
			local := []string{"precedent-dev/precedent@" + commit + "=" + action}
			for _, step := range readAction(t).Runs.Steps {
				if name, ref, used := strings.Cut(step.Uses, "@"); used {
					parts := strings.Split(name, "/")
					stub := filepath.Join(others, parts[0], parts[1])
					writeFile(t, filepath.Join(stub, filepath.Join(parts[2:]...), "action.yml"), otherAction, 0o600)
					local = append(local, strings.Join(parts[:2], "/")+"@"+ref+"="+stub)
				}
			}
			from := "octo/app"
			if test.fork {
				from = "someone/app"
			}
			event := filepath.Join(top, "event.json")
			about := fmt.Sprintf(`"user": {"login": "newcomer"}, "head": {"ref": "main", "sha": %q, "repo": {"full_name": %q}}`,
				s.id("feature"), from)
			writeFile(t, event, s.payload(`"pull_request": {"number": 7, `+about+`}`), 0o600)
			for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"commit", "--quiet", "--message", "Review pull requests"}} {
				s.git(top, args...)
			}
			args := []string{
				"pull_request", "--workflows", filepath.Join(top, ciFolders["github"], "precedent.yml"), "--eventpath", event, "--platform", "ubuntu-latest=-self-hosted",
				"--secret", "GITHUB_TOKEN=" + forgetest.Secret, "--action-offline-mode",
			}
			for _, l := range local {
				args = append(args, "--local-repository", l)
			}
			for _, v := range []string{
				"FROM=" + releases, "GITHUB_REPOSITORY=octo/app", "GITHUB_SERVER_URL=" + s.door.URL, "GITHUB_API_URL=" + s.door.URL + "/api/v3",
				"PRECEDENT_CONSOLIDATION=off",
			} {
				args = append(args, "--env", v)
			}
			before := len(s.pull.Comments)
			cmd := exec.CommandContext(context.WithoutCancel(t.Context()), act, args...)
			cmd.Dir = top
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_CACHE_HOME=" + t.TempDir()}
			out, err := cmd.CombinedOutput()
			// The jobs fail for findings.
			if err == nil || !strings.Contains(string(out), test.says) {
				t.Errorf("%v\n%s", err, out)
			}
			var posted int
			s.door.stage.World.Change(func() { posted = len(s.pull.Comments) - before })
			if (posted > 0) != test.posts {
				t.Errorf("%d comments were posted\n%s", posted, out)
			}
		})
	}
}
