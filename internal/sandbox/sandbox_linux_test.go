//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// sandboxVariable set to "off" lets make test pass on a machine that has no sandbox.
const sandboxVariable = "PRECEDENT_TEST_SANDBOX"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[0] == self && os.Args[1] == "trap" {
		os.Exit(trap(os.Args[2:]))
	}
	Main()
	switch kind := os.Getenv(victimVariable); kind {
	case "":
	case "none":
		if err := withoutNamespaces(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	default:
		b, err := probe(context.Background(), Kind(kind), "")
		if err == nil {
			_, err = b.Run(context.Background(),
				Job{Argv: []string{self, "trap", "linger", os.Getenv(markerVariable)}, program: self})
		}
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// eachKind runs test in a sandbox of each kind that this machine has, and says which it lacks; there has to be one.
func eachKind(t *testing.T, test func(*testing.T, Sandbox)) {
	t.Helper()
	have := 0
	for _, kind := range []Kind{Bubblewrap, Namespaces} {
		t.Run(string(kind), func(t *testing.T) {
			b, err := probe(t.Context(), kind, "")
			if err != nil {
				t.Skipf("needs a sandbox of the kind %s: %v", kind, err)
			}
			have++
			test(t, b)
		})
	}
	if have == 0 {
		t.Logf("no kind of sandbox works here: %s", hint)
		needs.Missing(t, sandboxVariable, "a sandbox")
	}
}

func TestSelfTest(t *testing.T) {
	t.Setenv("PRECEDENT_CANARY", "in the environment of this process")
	defer syscall.Umask(syscall.Umask(0o077)) // as a careful service has it
	leaked := needs.Value(os.Open("/etc/passwd"))(t)
	defer leaked.Close()
	fd, err := syscall.Dup(int(leaked.Fd())) // without close-on-exec
	needs.NoError(t, err)
	defer syscall.Close(fd)
	eachKind(t, func(t *testing.T, b Sandbox) {
		begun := time.Now()
		traps := needs.Value(b.SelfTest(t.Context()))(t)
		needs.Equal(t, len(escapes()), len(traps))
		dir, err := os.MkdirTemp("", "precedent-box-") //nolint:usetesting // t.TempDir is closed to others
		needs.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		most, err := b.attackEverything(t.Context(), dir)
		traps = append(traps, most...)
		for _, trap := range traps {
			if !trap.Held {
				t.Errorf("%s: %s", trap.Name, trap.Detail)
			}
		}
		const all = 70
		if err != nil || len(traps) < all {
			t.Errorf("%d traps, %v", len(traps), err)
		}
		t.Logf("%d traps held, as user %d, in %v", len(traps), os.Getuid(), time.Since(begun).Round(time.Millisecond))
	})
}

// TestUnprivileged runs the tests of this package as a user without rights.
func TestUnprivileged(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("needs root: without it all tests here run without rights anyway")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "precedent-sandbox-test-") //nolint:usetesting // t.TempDir is closed to others
	needs.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "tests")
	copyFrom(t, "/proc/self/exe", program)
	needs.NoError(t, errors.Join(os.Chmod(dir, 0o755), os.Mkdir(dir+"/tmp", 0o777), os.Chmod(dir+"/tmp", 0o777)))
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.count=1", "-test.skip=^TestWhatCannotBeRun$")
	cmd.Dir = dir
	cmd.Env = []string{
		"TMPDIR=" + dir + "/tmp", "PATH=" + os.Getenv("PATH"), sandboxVariable + "=" + os.Getenv(sandboxVariable),
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: TestSelfTest/") {
		t.Errorf("as nobody, nothing was tested\n%s", out)
	}
	t.Logf("%s", out)
}

// copyFrom copies a program, while no other test starts a process that would have the file open (see needs.WriteProgram).
func copyFrom(t *testing.T, source, target string) {
	t.Helper()
	in := needs.Value(os.Open(source))(t)
	defer in.Close()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	out, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY, 0o755)
	needs.NoError(t, err)
	_, err = io.Copy(out, in)
	needs.NoError(t, errors.Join(err, out.Close()))
}

func sh(script string) Job {
	return Job{Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "HOME=" + Home}}
}

func TestResults(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, b Sandbox) {
		for _, test := range []struct {
			name, script   string
			status         Status
			exit           int
			stdout, stderr string
		}{
			{"well", "echo out; echo err >&2", OK, 0, "out\n", "err\n"},
			{"badly", "echo out; exit 3", Failed, 3, "out\n", ""},
			{"signal", "kill -9 $$", Failed, 137, "", ""},
			{"where it is", "pwd; echo $HOME; hostname 2>/dev/null || cat /proc/sys/kernel/hostname", OK, 0, Work + "\n" + Home + "\nbox\n", ""},
			{"who it is", "id -un; id -gn; cat /etc/hosts >/dev/null; ls -d /etc /.box /dev /usr", OK, 0, "box\nbox\n/.box\n/dev\n/etc\n/usr\n", ""},
			{"scratch", "echo x > /tmp/a && mkdir b && echo y > b/c && cat /tmp/a b/c", OK, 0, "x\ny\n", ""},
			{"stray children", "sleep 600 & setsid sleep 600 & echo done", OK, 0, "done\n", ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				r, err := b.Run(t.Context(), sh(test.script))
				if err != nil || r.Status != test.status || r.Exit != test.exit || r.Stdout.String() != test.stdout ||
					r.Stderr.String() != test.stderr {
					t.Errorf("%v %d %q %q, %v", r.Status, r.Exit, r.Stdout, r.Stderr, err)
				}
			})
		}
	})
}

func TestTreeAndMounts(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, b Sandbox) {
		tree, tools := readable(t), readable(t)
		for name, text := range map[string]string{"tree/a": "a\n", "tree/deps/evil": "evil\n", "tools/tool": "#!/bin/sh\necho tool\n"} {
			name = filepath.Join(map[bool]string{true: tools, false: tree}[strings.HasPrefix(name, "tools")], name[5:])
			needs.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
			needs.WriteProgram(t, name, text)
		}
		j := sh("cat a && echo changed > a && cat a && deps/tool && tools/tool && /opt/a/b/tool && ls deps && ! touch deps/x 2>/dev/null && ! touch tools/x 2>/dev/null")
		j.Tree, j.Writable = tree, true
		j.Mounts = []Mount{{tools, Work + "/deps"}, {tools, Work + "/tools"}, {tools, "/opt/a/b"}, {Source: tools}}
		r, err := b.Run(t.Context(), j)
		if err != nil || r.Status != OK || r.Stdout.String() != "a\nchanged\ntool\ntool\ntool\ntool\n" {
			t.Errorf("%+v, %v", r, err)
		}
		needs.Result(t, "the tree", []byte("a\n"))(os.ReadFile(filepath.Join(tree, "a")))

		j = sh("cat a; ! touch x 2>/dev/null")
		j.Tree = tree
		if r, err := b.Run(t.Context(), j); err != nil || r.Status != OK || r.Stdout.String() != "a\n" {
			t.Errorf("read-only: %+v, %v", r, err)
		}
		if os.Getuid() == 0 { // the command is somebody else
			needs.NoError(t, os.Chmod(tree, 0o700))
			if _, err := b.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "chmod") {
				t.Errorf("%v; want a hint", err)
			}
			j.Writable = true
			if r, err := b.Run(t.Context(), j); err != nil || r.Stdout.String() != "a\n" {
				t.Errorf("a copy of a closed folder: %+v, %v", r, err)
			}
		}
	})
}
