//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestStoppedReviews: a review that is interrupted while an engine hangs ends with 130, its engine with it, and leaves and
// saves nothing. Secrets are "in files readable only" by those who need them: no copy that a review makes is one that
// others can read, none has the credentials of the tree, and none outlives the next run, also after SIGKILL.
func TestStoppedReviews(t *testing.T) {
	t.Parallel()
	home, temp := t.TempDir(), t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	const canary = "Zx81qLmW" + "0pTr77vK" // opens nothing
	writeFile(t, filepath.Join(repo, ".env"), "PASSWORD="+canary+"\n", 0o644)
	writeFile(t, filepath.Join(repo, "store.p12"), canary, 0o644)
	writeFile(t, filepath.Join(repo, "go.mod"), "module example.org/app\n", 0o644)
	writeFile(t, filepath.Join(repo, "main.go"), "package main\n\nfunc main() {}\n", 0o755)
	runGit(t, home, repo, "add", "-A")
	runGit(t, home, repo, "commit", "-q", "-m", "Add an app")
	file, engine := filepath.Join(home, "started"), filepath.Join(home, "engine")
	needs.WriteProgram(t, engine, "#!/bin/sh\necho $$ > "+file+"\nexec sleep 1000\n")
	review := func() *exec.Cmd {
		cmd := precedentCmd(home, repo, "review", "HEAD~1", "--engine", "command:"+engine)
		cmd.Env = append(cmd.Env, "TMPDIR="+temp)
		return cmd
	}
	interrupted := review()
	var said bytes.Buffer
	interrupted.Stderr = &said
	pid, ended := started(t, interrupted, file)
	needs.NoError(t, interrupted.Process.Signal(syscall.SIGINT))
	<-ended
	if got := interrupted.ProcessState.ExitCode(); got != exitInterrupted || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("ended with %d: %s", got, said.String())
	}
	if err := exec.Command("kill", "-0", pid).Run(); err == nil {
		t.Errorf("the engine %s lives on", pid)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if out, _ := ends(t, 0, precedentCmd(home, repo, "memory", "status", "--json")); !strings.Contains(out, `"reviews": 0`) {
		t.Errorf("something was saved:\n%s", out)
	}

	needs.NoError(t, os.Remove(file))
	cmd := review()
	pid, ended = started(t, cmd, file)
	t.Cleanup(func() { _ = exec.Command("kill", "-9", pid).Run() })
	names := map[string]bool{}
	err := filepath.WalkDir(temp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == temp {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed meanwhile
		}
		names[d.Name()] = true
		if open := info.Mode().Perm() & 0o077; open != 0 && (os.Geteuid() != 0 || filepath.Dir(path) == temp) {
			t.Errorf("others can use %s: %v", path, info.Mode())
		}
		if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte(canary)) {
			t.Errorf("%s has a credential", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if !names["main.go"] {
		t.Error("no copy of the tree was seen")
	}
	needs.NoError(t, cmd.Process.Kill())
	<-ended
	if left, err := os.ReadDir(temp); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v, want one folder", left, err)
	}
	next := precedentCmd(home, repo, "version")
	next.Env = append(next.Env, "TMPDIR="+temp)
	ends(t, 0, next)
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("after the next run, %v is left, %v", left, err)
	}
}
