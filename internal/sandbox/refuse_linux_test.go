//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// TestNone takes away what this machine offers: then nothing is run.
func TestNone(t *testing.T) {
	t.Parallel()
	exe := needs.Value(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = []string{victimVariable + "=none"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER, // of which the settings are its own
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("needs user namespaces, to take them away: %v", err) // eachKind fails if nothing else works
	}
	if err != nil || !strings.Contains(string(out), "bubblewrap: ") || !strings.Contains(string(out), "namespaces: ") {
		t.Errorf("%s, %v; want why no kind works", out, err)
	}
}

// withoutNamespaces is TestNone on the inside.
func withoutNamespaces() error {
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	b, err := Probe(context.Background(), "")
	var none *NoneError
	if !errors.As(err, &none) || none.Hint == "" {
		return fmt.Errorf("probed %v, %w", b.Kind(), err)
	}
	fmt.Println(none)
	if r, err := b.Run(context.Background(), sh("echo it ran")); err == nil {
		return fmt.Errorf("it ran: %+v", r)
	}
	return nil
}

// TestWhatCannotBeRun is an error each time, never a result.
func TestWhatCannotBeRun(t *testing.T) {
	t.Parallel()
	if _, err := (Sandbox{}).Run(t.Context(), sh("true")); err == nil {
		t.Error("a sandbox that was not probed ran something")
	}
	eachKind(t, func(t *testing.T, b Sandbox) {
		for name, change := range map[string]func(*Job){
			"no command":          func(j *Job) { j.Argv = nil },
			"no such program":     func(j *Job) { j.Argv = []string{"no-such-program"} },
			"relative PATH":       func(j *Job) { j.Env = []string{"PATH=../usr/bin:."} },
			"NUL":                 func(j *Job) { j.Argv = append(j.Argv, "a\x00b") },
			"no such tree":        func(j *Job) { j.Tree = "/no/such/tree" },
			"relative tree":       func(j *Job) { j.Tree = "." },
			"no such mount":       func(j *Job) { j.Mounts = []Mount{{"/no/such/folder", "/x"}} },
			"mount over a part":   func(j *Job) { j.Mounts = []Mount{{"/etc", "/usr/bin/x"}} },
			"mount of the system": func(j *Job) { j.Mounts = []Mount{{"/etc", "/usr/local"}} },
			"mount over work":     func(j *Job) { j.Mounts = []Mount{{"/etc", Work}} },
			"mount in the tree":   func(j *Job) { j.Tree = "/etc"; j.Mounts = []Mount{{"/usr", Work + "/x"}} },
			"negative limit":      func(j *Job) { j.Limits.Memory = -1 },
			"too few processes":   func(j *Job) { j.Limits.Processes = 1 },
			"tree over the size":  func(j *Job) { j.Tree, j.Writable, j.Limits.Scratch = bigTree(t), true, 1<<20 },
		} {
			t.Run(name, func(t *testing.T) {
				j := sh("echo it ran")
				change(&j)
				r, err := b.Run(t.Context(), j)
				if err == nil || strings.Contains(r.Stdout.String(), "it ran") {
					t.Errorf("%+v, %v", r, err)
				}
			})
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		enough := errors.New("enough")
		time.AfterFunc(300*time.Millisecond, func() { cancel(enough) })
		if r, err := b.Run(ctx, sh("sleep 600")); !errors.Is(err, enough) {
			t.Errorf("%+v, %v; want the context's cause", r, err)
		}
	})
}

func bigTree(t *testing.T) string {
	t.Helper()
	dir := readable(t)
	needs.NoError(t, os.WriteFile(filepath.Join(dir, "big"), make([]byte, 2<<20), 0o644))
	return dir
}

// readable makes a folder that all users can read.
func readable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	needs.NoError(t, os.Chmod(dir, 0o755))
	return dir
}
