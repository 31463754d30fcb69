//go:build amd64 || arm64

package gate

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// outside is what a hostile command must not reach.
type outside struct {
	folder, port, marker string
	visits               atomic.Int64
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	t.Setenv("PRECEDENT_CANARY", "in the environment of this process")
	o := &outside{folder: folder(t)}
	n := needs.Value(rand.Int(rand.Reader, big.NewInt(1e15)))(t)
	o.marker = "86400." + n.String()
	needs.NoError(t, os.WriteFile(filepath.Join(o.folder, "canary"), nil, 0o666))
	needs.NoError(t, os.Chmod(o.folder, 0o777))
	l := needs.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			o.visits.Add(1)
			_ = c.Close()
		}
	}()
	o.port = strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	return o
}

// env tells a command what to attack, as assignments before it.
func (o *outside) env() string {
	return fmt.Sprintf("export TRAP_PORT=%s TRAP_FOLDER=%s TRAP_MARKER=%s; ", o.port, o.folder, o.marker)
}

// check fails the test if something was reached, or if a process is left.
func (o *outside) check(t *testing.T, out string) {
	t.Helper()
	if strings.Contains(out, "ESCAPED") || strings.Contains(out, "this process") {
		t.Errorf("it got out:\n%s", out)
	}
	if n := o.visits.Load(); n > 0 {
		t.Errorf("%d connections", n)
	}
	needs.Len(t, "in the folder", 1)(os.ReadDir(o.folder))
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		if line, err := os.ReadFile(name); err == nil && strings.Contains(string(line), o.marker) {
			t.Errorf("a process is left: %q", line)
		}
	}
}

// TestT1HostileRepository runs the build files of a hostile repository through the gate: each
// dumps environments, connects, writes to the home and above the tree, and leaves processes
// behind. None gets out, nothing remains, and the result of each is reported all the same.
func TestT1HostileRepository(t *testing.T) {
	r := runner(t)
	o := newOutside(t)
	dir := folder(t)
	needs.NoError(t, os.CopyFS(dir, os.DirFS("testdata/hostile")))
	caches := contentOf(t, r.CacheDir)
	for _, test := range []struct {
		program, line string
		long          bool
		want          Status
		said          string
	}{
		{"sh", "sh attack.sh sh", false, Passed, "attacked by sh"},
		{"make", "make", false, Passed, "attacked by make\n"},
		{"make", "make test", false, Failed, "attacked by make-while-parsing"},
		{"python3", "python3 -m unittest -v test_it", false, Passed, "attacked by python"},
		{"node", "node attack.js", false, Passed, "attacked by node"},
		{"npm", "npm run build", false, Passed, "attacked by npm"},
		{"go", "CGO_ENABLED=0 go test -vet=off -v .", true, Passed, "attacked by go"},
		{"cargo", "cargo build -vv", true, Passed, "attacked by cargo"},
	} {
		t.Run(test.line, func(t *testing.T) {
			if test.long {
				needs.Soak(t, "compiles with an empty cache")
			}
			q := request(dir, o.env()+test.line)
			q.Limits.Sandbox.Scratch = 0
			got := r.Run(t.Context(), q)
			if got.Status == Skipped {
				t.Skipf("needs %s where a sandbox finds it: %s", test.program, got.Why)
			}
			out := got.Commands[0].Output
			if got.Status != test.want || !strings.Contains(out+"\n", test.said) {
				t.Errorf("%s, %s; want %s and %q\n%s", got.Status, got.Why, test.want, test.said, out)
			}
			if strings.Contains(out, "in the environment of") {
				t.Error("the output shows the environment of this process")
			}
			o.check(t, out)
		})
	}
	needs.Equal(t, caches, contentOf(t, r.CacheDir))
}

// poison is what a hostile command does with caches that it can read.
const poison = `
for f in $(find /cache /dependencies "$GOCACHE" -type f -o -type l 2>/dev/null | head -50); do
	echo poison >>"$f" 2>/dev/null; chmod 777 "$f" 2>/dev/null; rm -f "$f" 2>/dev/null; echo poison >"$f" 2>/dev/null
done
for d in /cache/go-build /cache/go-build/entries /cache/go-build/content /dependencies/go /toolchain/go/src; do
	test -e "$d" || continue
	echo poison >"$d/new" 2>/dev/null && echo "ESCAPED: wrote to $d"
	mv "$d" "$d.old" 2>/dev/null && echo "ESCAPED: moved $d"
	rm -rf "$d" 2>/dev/null && test ! -e "$d" && echo "ESCAPED: removed $d"
	ln -s / "$d/root" 2>/dev/null && echo "ESCAPED: linked in $d"
	mount --bind /tmp "$d" 2>/dev/null && echo "ESCAPED: mounted over $d"
done
mkdir -p "$GOCACHE/ff" "$HOME/.cache" && echo poison >"$GOCACHE/ff/poison-d" && echo "poisoned its own copy"
exit 0
`

// shelf is a toolchain that a runner takes for Go, so that it keeps a build cache.
func shelf(t *testing.T) string {
	t.Helper()
	root := tree(t, "bin/go", "#!/bin/sh\ntest \"$1\" != test || { "+cacheEntry+"; }\n", "src/runtime/runtime2.go",
		"package runtime\n", "VERSION", "go1.0-test\n")
	return filepath.Join(root, "bin")
}

// cacheEntry writes an entry of a build cache, and what it points to.
const cacheEntry = `n=$(printf %064d 7); mkdir -p $GOCACHE/ab && test -e $GOCACHE/ab/$n-a || { echo built; echo entry >$GOCACHE/ab/$n-a; cat content.txt >$GOCACHE/ab/$n-d; }; cat $GOCACHE/ab/$n-d`

// TestT28PoisonedCache: a hostile run of a pull request writes to every cache that it can read, then to
// its own copy. The kept folders do not change, and the next run starts from what the base built.
func TestT28PoisonedCache(t *testing.T) {
	t.Parallel()
	r := runner(t)
	r.Path = shelf(t)
	base := tree(t, "go.mod", "module m\n", "content.txt", "of the base\n", "attack.sh", "exit 0\n")
	evil := tree(t, "go.mod", "module m\n", "content.txt", "of the change\n", "attack.sh", poison)
	run := func(dir string) Request {
		q := request(dir, cacheEntry, "sh attack.sh")
		q.BaseTree = func(context.Context) (string, error) { return base, nil }
		return q
	}
	says := func(r Runner, q Request, want string) {
		t.Helper()
		if got := r.Run(t.Context(), q); got.Status != Passed || got.Commands[0].Output != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
	says(r, run(base), "of the base") // without "built": the seed was there
	before := contentOf(t, r.CacheDir)
	hostile := r.Run(t.Context(), run(evil))
	if hostile.Status != Passed || !strings.Contains(hostile.Commands[1].Output, "poisoned its own copy") ||
		strings.Contains(hostile.Commands[1].Output, "ESCAPED") {
		t.Errorf("%+v", hostile)
	}
	needs.Equal(t, before, contentOf(t, r.CacheDir))
	// Nothing of a base runs while its cache is filled: anybody who can push has a base.
	pushed := request(tree(
		t, "go.mod", "module m\n", "content.txt", "of a branch\n", "forge.sh",
		"mkdir -p $GOCACHE/cd; for k in a d; do echo forged >$GOCACHE/cd/$(printf %064d 9)-$k; done\n",
	), "sh forge.sh", "go test ./...")
	pushed.Base = strings.Repeat("b", 40)
	pushed.BaseTree = func(context.Context) (string, error) { return pushed.Tree, nil }
	fresh := r
	fresh.CacheDir = t.TempDir()
	wantRun(t, fresh, pushed, Passed, "")
	// It is read for another base only if it is of that one's history.
	for _, inHistory := range []bool{false, true} {
		later := request(base, "test ! -e $GOCACHE/cd && "+cacheEntry)
		later.Base = strings.Repeat("c", 40)
		later.InHistory = func(_ context.Context, commit string) bool { return inHistory && commit == pushed.Base }
		says(fresh, later, map[bool]string{false: "built\nof the base", true: "of a branch"}[inHistory])
	}
	says(r, run(base), "of the base") // also after the hostile run

	// Another repository and another base share nothing.
	q := request(base, cacheEntry)
	q.Repo.Name = "other"
	says(r, q, "built\nof the base")

	// A kept folder that something else changed does not count.
	var entry string
	_ = filepath.WalkDir(r.CacheDir, func(name string, _ os.DirEntry, _ error) error {
		if strings.HasSuffix(name, "7-d") {
			entry = name
		}
		return nil
	})
	needs.NoError(t, os.Chmod(entry, 0o644))
	needs.NoError(t, os.WriteFile(entry, []byte("from elsewhere\n"), 0o644))
	says(r, run(base), "of the base")
}

// TestFault23Hang: a command that hangs is killed with its whole tree at the time limit.
func TestFault23Hang(t *testing.T) {
	r := runner(t)
	o := newOutside(t)
	q := request(tree(t, "a", "b"),
		fmt.Sprintf("(trap '' HUP TERM INT; exec setsid sleep %[1]s) & echo waiting; sleep %[1]s", o.marker),
		"echo unreached")
	q.Limits.Time = time.Second
	got := r.Run(t.Context(), q)
	if got.Status != TimedOut || got.Blocks || !strings.Contains(got.Why, "not done after 1s") ||
		got.Tail() != "waiting" || got.Commands[1].Status != Skipped {
		t.Errorf("%+v", got)
	}
	o.check(t, got.Tail())

	q = request(tree(t, "a", "b"), "sleep 0.5", "sleep 60", "echo unreached")
	q.Limits.Total = time.Second
	if got := r.Run(t.Context(), q); got.Status != TimedOut || got.Commands[1].Status != TimedOut ||
		got.Commands[2].Status != Skipped {
		t.Errorf("all commands together: %+v", got)
	}
}

// TestFault24Exhaustion: a fork bomb, endless output, and too much memory and disk end as a resource
// limit, with the head and the tail of the output.
func TestFault24Exhaustion(t *testing.T) {
	t.Parallel()
	r := runner(t)
	for name, line := range map[string]string{
		"fork bomb": "echo begin; b() { b | b & b | b; }; b; b; b",
		"output":    "echo begin; exec yes flood",
		"memory":    "echo begin; a=$(head -c 400000000 /dev/zero | tr '\\0' x); echo ${#a}",
		"disk":      "echo begin; exec cat /dev/zero >large",
	} {
		t.Run(name, func(t *testing.T) {
			q := request(tree(t, "a", "b"), line)
			q.Limits.Time = time.Minute
			q.Limits.Sandbox = sandbox.Limits{Memory: 200 << 20, Processes: 64, Scratch: 32 << 20, Written: 64 << 20}
			begun := time.Now()
			got := r.Run(t.Context(), q)
			if got.Status != Resource || got.Blocks || !strings.HasPrefix(got.Commands[0].Output, "begin") {
				t.Errorf("%s, %s: %.200q", got.Status, got.Why, got.Commands[0].Output)
			}
			if n := len(got.Commands[0].Output); n > mostOutput+100 {
				t.Errorf("%d bytes of output", n)
			}
			if len([]rune(got.Tail())) > 2000 {
				t.Error("a long tail")
			}
			t.Logf("%s in %v", got.Why, time.Since(begun).Round(time.Millisecond))
		})
	}
}

// TestFault25NoSandbox: without a sandbox nothing runs.
func TestFault25NoSandbox(t *testing.T) {
	t.Parallel()
	proof := filepath.Join(folder(t), "ran")
	q := request(tree(t, "a", "b"), "touch "+proof)
	none := unsandboxed()
	none.Local = nil
	empty := Runner{Sandbox: func(context.Context) (sandbox.Sandbox, error) { return sandbox.Sandbox{}, nil }}
	for _, r := range []Runner{{}, none, empty} {
		wantRun(t, r, q, Skipped, "no sandbox")
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("the command ran")
	}
}

// TestFault26Flaky: a command that fails and then passes is flaky, and blocks only if the policy says so.
// Each run of a command starts from the same tree, so the test keeps the count elsewhere: time.
func TestFault26Flaky(t *testing.T) {
	t.Parallel()
	r := runner(t)
	// The first run starts before the instant and ends after it, also on a busy machine.
	for _, fail := range []bool{false, true} {
		t.Run(fmt.Sprint(fail), func(t *testing.T) {
			t.Parallel()
			line := fmt.Sprintf("echo look; later() { test $(date +%%s) -ge %d; }; later || { until later; do sleep .1; done; exit 4; }",
				time.Now().Add(10*time.Second).Unix())
			q := request(tree(t, "a", "b"), line, "echo next")
			q.Policy = precedent.Gate{FailFlaky: fail}
			got := r.Run(t.Context(), q)
			if got.Status != Flaky || got.Blocks != fail ||
				!strings.Contains(got.Why, "failed, then passed: exit status 4") || got.Commands[1].Status != Passed ||
				got.Tail() != "look" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestTreeWithGit: a tree with a .git is not run: hooks and tokens may be in it.
func TestTreeWithGit(t *testing.T) {
	t.Parallel()
	r := runner(t)
	wantRun(t, r, request(tree(t, ".git/config", "x"), "true"), Skipped, ".git")
}

// TestSecretsInOutput: credentials that a command prints are not in the result, wherever they are.
func TestSecretsInOutput(t *testing.T) {
	t.Parallel()
	r := runner(t)
	key := "ghp_" + strings.Repeat("a1B2c3D4e5", 4)[:36]
	got := r.Run(t.Context(), request(tree(t, "a", "b"),
		"echo token="+key+"; printf '\\033[31mred\\033[0m \\033]0;title\\007 \\342\\200\\256rtl'; exit 1"))
	if strings.Contains(got.Tail(), key) || !strings.Contains(got.Tail(), "[REDACTED:") ||
		strings.ContainsAny(got.Tail(), "\x1b\x07\u202e") || !strings.Contains(got.Tail(), "red") {
		t.Errorf("%q", got.Tail())
	}
}
