//go:build amd64 || arm64

package sandbox

import (
	"crypto/rand"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// builds are what a gate would run over testdata/hostile.
func builds(t *testing.T) []build {
	return []build{
		{name: "sh", needs: "sh", argv: "sh attack.sh sh", said: "attacked by sh"},
		{name: "make", needs: "make", argv: "make", said: "attacked by make\n"},
		{name: "make that fails", needs: "make", argv: "make test", exit: 2, said: "attacked by make-while-parsing"},
		{
			name: "python", needs: "python3", argv: "python3 -m unittest -v test_it", said: "attacked by python",
			home: ask(t, "python3", "-c", "import sys; print(sys.base_prefix)"),
		},
		{name: "node", needs: "node", argv: "node attack.js", said: "attacked by node"},
		{name: "npm", needs: "npm", argv: "npm run build --offline --no-update-notifier", said: "attacked by npm"},
		{
			name: "go", needs: "go", argv: "go test -vet=off -v .", said: "attacked by go",
			home: ask(t, "go", "env", "GOROOT"), compiles: true,
		},
		{
			name: "cargo", needs: "cargo", argv: "cargo build --offline -vv",
			said: "attacked by cargo", home: ask(t, "rustc", "--print", "sysroot"), compiles: true,
		},
	}
}

type build struct {
	name, needs, argv string
	home              string // of the toolchain
	exit              int
	said              string // the attack did run
	compiles          bool   // takes its time, with an empty cache
}

// inSandbox tells whether a sandbox would find the program that a build needs: what is on
// the PATH of the tests need not be there.
func (b build) inSandbox() bool {
	for _, dir := range append([]string{filepath.Join(b.home, "bin")}, sandboxPath...) {
		if found, err := exec.LookPath(filepath.Join(dir, b.needs)); err == nil && filepath.IsAbs(found) {
			return true
		}
	}
	return false
}

// boxPath is where a sandbox looks for programs, beside those of a build's home.
var sandboxPath = []string{"/usr/local/go/bin", "/usr/local/bin", "/usr/bin", "/bin"}

func ask(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// TestHostileBuilds runs build files that attack: none gets out, and each build's own result is reported all the same.
func TestHostileBuilds(t *testing.T) {
	t.Setenv("PRECEDENT_CANARY", "in the environment of this process")
	source := "testdata/hostile"
	if _, err := os.Stat(source); err != nil {
		t.Skip("the program runs without its test data") // as nobody; the builds were attacked as root
	}
	all := builds(t)
	compiled := false
	eachKind(t, func(t *testing.T, b Sandbox) {
		for _, test := range all {
			if test.compiles && compiled {
				continue // in one kind
			}
			t.Run(test.name, func(t *testing.T) {
				if !test.inSandbox() {
					t.Skipf("needs %s where a sandbox finds it", test.needs)
				}
				if test.compiles {
					needs.Soak(t, "compiles with an empty cache")
				}
				hostileBuild(t, b, test, source)
			})
		}
		compiled = true
	})
}

func hostileBuild(t *testing.T, b Sandbox, test build, source string) {
	tree, folder := readable(t), t.TempDir()
	needs.NoError(t, os.CopyFS(tree, os.DirFS(source)))
	needs.NoError(t, os.WriteFile(filepath.Join(folder, "canary"), nil, 0o666))
	needs.NoError(t, os.Chmod(folder, 0o777))
	l := needs.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	var visits atomic.Int64
	go count(l, &visits)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := needs.Value(rand.Int(rand.Reader, big.NewInt(1e15)))(t)
	marker := "86400." + n.String()

	j := Job{
		Tree: tree, Writable: true, Argv: strings.Fields(test.argv),
		Env: []string{
			"PATH=/tools/bin:" + strings.Join(sandboxPath, ":"), "HOME=" + Home,
			"GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "CGO_ENABLED=0",
			"TRAP_PORT=" + port, "TRAP_FOLDER=" + folder, "TRAP_MARKER=" + marker,
		},
	}
	if test.home != "" {
		j.Mounts = []Mount{{test.home, "/tools"}}
	}
	r, err := b.Run(t.Context(), j)
	out := r.Stdout.String() + r.Stderr.String()
	want := map[bool]Status{true: OK, false: Failed}[test.exit == 0]
	if err != nil || r.Status != want || r.Exit != test.exit || !strings.Contains(out, test.said) {
		t.Errorf("%s %d, %v; want %s %d and %q", r.Status, r.Exit, err, want, test.exit, test.said)
	}
	if strings.Contains(out, "ESCAPED") || strings.Contains(out, "this process") {
		t.Error("it got out")
	}
	if n := visits.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
	needs.Len(t, "in the folder", 1)(os.ReadDir(folder))
	needs.Equal(t, "", survivors(marker))
	if t.Failed() {
		t.Log(out)
	}
	t.Logf("%v, %d MiB", r.Usage.Wall.Round(1e6), r.Usage.Memory>>20)
}
