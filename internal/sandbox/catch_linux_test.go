//go:build amd64 || arm64

package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"golang.org/x/sys/unix"
)

// TestTrapsCatch takes single defences away: a trap that never breaks proves nothing.
func TestTrapsCatch(t *testing.T) {
	t.Parallel()
	b, err := probe(t.Context(), Namespaces, "")
	if err != nil {
		t.Skipf("needs a sandbox of the kind %s: %v", Namespaces, err) // eachKind fails if there is none at all
	}
	for _, test := range []struct {
		name   string
		order  func(*order, told)
		launch func(*launch)
		broken []string
		root   bool
	}{
		{"nothing", func(*order, told) {}, func(*launch) {}, nil, false},
		{"network", func(*order, told) {}, func(l *launch) { l.cmd.SysProcAttr.Cloneflags &^= unix.CLONE_NEWNET }, []string{"servers of the host", "the network"}, true},
		{"mount of the host", func(o *order, f told) { o.Binds = append(o.Binds, Mount{f.Folder, f.Folder}) }, func(*launch) {}, []string{"files of the host"}, false},
		{"environment", func(o *order, _ told) { o.Env = append(o.Env, "CANARY=1") }, func(*launch) {}, []string{"environments"}, false},
		{"root", func(o *order, _ told) { o.User = 0 }, func(l *launch) {
			l.cmd.SysProcAttr.Cloneflags &^= unix.CLONE_NEWUSER
			l.cmd.SysProcAttr.UidMappings = nil
			l.cmd.SysProcAttr.GidMappings = nil
		}, []string{"another user"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.root && os.Getuid() != 0 {
				t.Skip("needs root: only root can take this away")
			}
			dir := readable(t)
			f, _, done, err := hostileOutside(t.Context(), dir)
			needs.NoError(t, err)
			defer done()
			f.Env = []string{"KNOWN=1"}
			said := needs.Value(json.Marshal(f))(t)
			j, err := Job{
				Tree: filepath.Join(dir, "tree"), Argv: []string{self, "trap", "inside", string(said)},
				Env: f.Env[:1:1], Limits: f.Limits, program: self,
			}.checked()
			needs.NoError(t, err)
			o := needs.Value(b.orderFor(j))(t)
			test.order(&o, f)
			l := needs.Value(b.prepare(t.Context(), o))(t)
			test.launch(l)
			r, err := l.run(t.Context(), o.Limits, nil)
			var traps []Trap
			if err == nil {
				traps, err = trapsOf(r)
			}
			if err != nil {
				t.Fatalf("%v: %q %q", err, r.Stdout, r.Stderr)
			}
			broken := map[string]string{}
			for _, trap := range traps {
				if !trap.Held {
					broken[trap.Name] = trap.Detail
				}
			}
			for _, name := range test.broken {
				if broken[name] == "" {
					t.Errorf("the trap %q held", name)
				}
			}
			if len(test.broken) == 0 && len(broken) > 0 {
				t.Errorf("broken: %v", broken)
			}
			t.Log(broken)
		})
	}
}

// TestOrphans kills the program that runs a sandbox: nobody else is there to end it.
func TestOrphans(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, b Sandbox) {
		exe := needs.Value(os.Executable())(t)
		marker := rand.Text()
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = []string{victimVariable + "=" + string(b.Kind()), markerVariable + "=" + marker}
		out := needs.Value(cmd.StdoutPipe())(t)
		needs.NoError(t, cmd.Start())
		alive := func() bool { return survivors(marker) != "" }
		if !within(time.Minute, alive) {
			t.Error("the sandbox never started")
		}
		_ = cmd.Process.Kill()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		if !within(time.Minute, func() bool { return !alive() }) {
			t.Error(survivors(marker))
		}
	})
}

const (
	victimVariable = "PRECEDENT_TEST_VICTIM" // the kind of sandbox that a process runs until it is killed
	markerVariable = "PRECEDENT_TEST_MARKER" // what is found in the arguments of the command in it
)

func within(limit time.Duration, condition func() bool) bool {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-ticks.C {
		if condition() {
			return true
		}
	}
	return condition()
}

// TestSetuid: a program of root's that makes root does not.
func TestSetuid(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root, to make such a program")
	}
	eachKind(t, func(t *testing.T, b Sandbox) {
		dir := readable(t)
		copyFrom(t, "/usr/bin/id", filepath.Join(dir, "id"))
		needs.NoError(t, os.Chmod(filepath.Join(dir, "id"), 0o755|os.ModeSetuid|os.ModeSetgid))
		j := sh("/tools/id -u; /tools/id -g")
		j.Mounts = []Mount{{dir, "/tools"}}
		r, err := b.Run(t.Context(), j)
		if out := r.Stdout.String(); err != nil || r.Status != OK || strings.HasPrefix(out, "0\n") ||
			strings.HasSuffix(out, "\n0\n") {
			t.Errorf("%q %q, %v", out, r.Stderr, err)
		}
	})
}
