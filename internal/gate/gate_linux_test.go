//go:build amd64 || arm64

package gate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// probe finds the sandbox once.
var probe = sync.OnceValues(func() (sandbox.Sandbox, error) { return sandbox.Probe(context.Background(), "") })

// runner is a runner with the sandbox of this machine; the test is skipped if it has none.
func runner(t *testing.T) Runner {
	t.Helper()
	if _, err := probe(); err != nil {
		t.Log(err)
		needs.Missing(t, "PRECEDENT_TEST_SANDBOX", "a sandbox")
	}
	return Runner{
		Sandbox: func(context.Context) (sandbox.Sandbox, error) { return probe() }, CacheDir: folder(t),
		Path: os.Getenv("PATH"),
	}
}

// folder is an empty folder that every user can read, as an export for the sandbox is.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "precedent-gate-test-") //nolint:usetesting // t.TempDir is closed to others
	needs.NoError(t, err)
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, _ error) error { // read-only folders
			if d != nil && d.IsDir() {
				_ = os.Chmod(name, 0o755)
			}
			return nil
		})
		needs.NoError(t, os.RemoveAll(dir))
	})
	needs.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// tree writes files, given as pairs of a path and a content.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := folder(t)
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		needs.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		needs.NoError(t, os.WriteFile(name, []byte(files[i+1]), 0o755))
	}
	return dir
}

func request(tree string, lines ...string) Request {
	q := Request{
		Repo: precedent.Repo{Host: "forge.example", Owner: "team", Name: "shop"}, Tree: tree,
		Base: strings.Repeat("a", 40),
	}
	for _, l := range lines {
		q.Commands = append(q.Commands, Command{Name: l, Line: l, Source: "policy"})
	}
	q.Limits.Sandbox.Scratch = 64 << 20
	return q
}

// requestAt is a request for a tree that is its own base.
func requestAt(base string, lines ...string) Request {
	q := request(base, lines...)
	q.Read = filesOf(base)
	return q
}

// wantRun runs a request and checks its verdict.
func wantRun(t *testing.T, r Runner, q Request, want Status, why string) Result {
	t.Helper()
	got := r.Run(t.Context(), q)
	if got.Status != want || got.Blocks != (want == Failed) || !strings.Contains(got.Why, why) {
		t.Errorf("%+v; want %s, because of %q", got, want, why)
	}
	return got
}

// wantPassed runs a request that passes with the packages of its base or head.
func wantPassed(t *testing.T, r Runner, q Request, dependencies string) {
	t.Helper()
	needs.Equal(t, dependencies, wantRun(t, r, q, Passed, "").Dependencies)
}

// TestStatuses runs commands that end in every way.
func TestStatuses(t *testing.T) {
	t.Parallel()
	r := runner(t)
	for _, test := range []struct {
		name   string
		lines  []string
		want   Status
		why    string // part of Result.Why
		tail   string // part of Result.Tail
		blocks bool
	}{
		{"pass", []string{"echo fine", "test -w . && echo x >new"}, Passed, "", "", false},
		{"fail", []string{"echo sorry; exit 3", "echo unreached"}, Failed, "echo sorry; exit 3: exit status 3", "sorry", true},
		{"a missing program", []string{"nosuchtool test"}, Skipped, "nosuchtool is not installed", "", false},
		{"a missing program beside one that passes", []string{"true", "nosuchtool test"}, Passed, "nosuchtool is not installed", "", false},
		{"a missing program before one that fails", []string{"nosuchtool test", "false"}, Failed, "exit status 1", "", true},
		{"a full disk", []string{"head -c 100000000 /dev/zero >large"}, Resource, "disk", "No space left", false},
		{"no commands", nil, Skipped, "no commands", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := r.Run(t.Context(), request(tree(t, "README", "x"), test.lines...))
			if got.Status != test.want || !strings.Contains(got.Why, test.why) ||
				(test.why == "") != (got.Why == "") || !strings.Contains(got.Tail(), test.tail) ||
				got.Blocks != test.blocks {
				t.Errorf("%+v\ntail %q", got, got.Tail())
			}
			if len(got.Commands) != len(test.lines) && len(test.lines) > 0 {
				t.Errorf("%d commands", len(got.Commands))
			}
		})
	}
}

// TestFailsAtBase: a command that a document names and that fails on the base, too, does not reject the
// change; one that the policy names does.
func TestFailsAtBase(t *testing.T) {
	t.Parallel()
	r := runner(t)
	broken, fine := tree(t, "test.sh", "exit 2\n"), tree(t, "test.sh", "exit 0\n")
	for _, test := range []struct {
		name, source, base, lacks string
		want                      Status
	}{
		{"a document's, broken", "README.md: Test", broken, "", Skipped},
		{"a document's, broken by the change", "README.md: Test", fine, "", Failed},
		{"the policy's", fromPolicy, broken, "", Failed},
		{"the policy's, without a submodule", fromPolicy, broken, "1 file is missing in the sandbox", Skipped},
		{"the policy's, broken by the change, without a submodule", fromPolicy, fine, "1 file is missing in the sandbox", Failed},
	} {
		q := request(broken, "sh test.sh")
		q.Commands[0].Source, q.Lacks = test.source, test.lacks
		exports := 0
		q.BaseTree = func(context.Context) (string, error) { exports++; return test.base, nil }
		if got := r.Run(t.Context(), q); got.Status != test.want || got.Blocks != (test.want == Failed) ||
			exports > 1 || (got.Status == Skipped) && !strings.Contains(got.Why, test.lacks) {
			t.Errorf("%s: %+v, %d exports", test.name, got, exports)
		}
	}
}

// filesOf reads the files of a folder as those of a base commit.
func filesOf(dir string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))) }
}

// shopModule is a Go module that needs another one.
func shopModule(t *testing.T) []string {
	t.Helper()
	var sums []string
	own := needs.Value(os.ReadFile("../../go.sum"))(t)
	version := ""
	for line := range strings.Lines(string(own)) {
		if strings.HasPrefix(line, "github.com/google/go-cmp ") {
			sums = append(sums, line)
			version = strings.TrimSuffix(strings.Fields(line)[1], "/go.mod")
		}
	}
	return []string{
		"go.mod", "module example.com/shop\n\ngo 1.24\n\nrequire github.com/google/go-cmp " + version + "\n",
		"go.sum", strings.Join(sums, ""),
		"sum.go", "package shop\n\nfunc Sum(a, b int) int { return a + b }\n",
		"sum_test.go", "package shop\n\nimport (\n\t\"testing\"\n\n\t\"github.com/google/go-cmp/cmp\"\n)\n\nfunc TestSum(t *testing.T) {\n\tif cmp.Diff(Sum(1, 2), 3) != \"\" {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	}
}

// TestGoRepository gates a Go repository: its modules come from the operator's cache, and its first
// run fills the build cache that the second one starts from.
func TestGoRepository(t *testing.T) {
	t.Parallel()
	r := runner(t)
	needs.Soak(t, "compiles with an empty cache")
	out := needs.Value(exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output())(t)
	r.ModCache = strings.TrimSpace(string(out))
	files := shopModule(t)
	base := tree(t, files...)
	head := tree(t, append(files, "more.go", "package shop\n\nfunc More() int { return Sum(1, 1) }\n")...)
	q := request(head, "go vet ./...", "go test ./...")
	q.Limits.Sandbox.Scratch = 0
	q.Read = filesOf(base)
	q.BaseTree = func(context.Context) (string, error) { return base, nil }
	first := r.Run(t.Context(), q)
	if first.Status != Passed || first.Dependencies != "go: modules as of the base" {
		t.Fatalf("%+v", first)
	}
	before := contentOf(t, r.CacheDir)
	second := r.Run(t.Context(), q)
	if second.Status != Passed || second.Took > first.Took/2 {
		t.Errorf("%+v after %v", second, first.Took)
	}
	needs.Equal(t, before, contentOf(t, r.CacheDir))
}

// contentOf is a hash of all that is below a folder.
func contentOf(t *testing.T, dir string) string {
	t.Helper()
	return needs.Value(sumFolder(dir))(t)
}
