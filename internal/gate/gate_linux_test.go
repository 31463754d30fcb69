//go:build amd64 || arm64

package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// probe finds the sandbox once.
var probe = sync.OnceValues(func() (sandbox.Box, error) { return sandbox.Probe(context.Background(), "") })

// runner is a runner with the sandbox of this machine; the test is skipped if it has none.
func runner(t *testing.T) Runner {
	t.Helper()
	if _, err := probe(); err != nil {
		t.Log(err)
		needs.Missing(t, "PRECEDENT_TEST_SANDBOX", "a sandbox")
	}
	return Runner{
		Box:      func(context.Context) (sandbox.Box, error) { return probe() },
		CacheDir: folder(t), Path: os.Getenv("PATH"),
	}
}

// folder is an empty folder that every user can read, as an export for the sandbox is.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "precedent-gate-test-") //nolint:usetesting // t.TempDir is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(name string, d os.DirEntry, _ error) error { // read-only folders
			if d != nil && d.IsDir() {
				_ = os.Chmod(name, 0o755)
			}
			return nil
		})
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree writes files, given as pairs of a path and a content.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := folder(t)
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, filepath.FromSlash(files[i]))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func request(tree string, lines ...string) Request {
	q := Request{Repo: precedent.Repo{Host: "forge.example", Owner: "team", Name: "shop"}, Tree: tree, Base: strings.Repeat("a", 40)}
	for _, l := range lines {
		q.Commands = append(q.Commands, Command{Name: l, Line: l, Source: "policy"})
	}
	q.Limits.Sandbox.Scratch = 64 << 20
	return q
}

// TestStatuses runs commands that end in every way.
func TestStatuses(t *testing.T) {
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
		{"fail on standard error", []string{"echo sorry >&2; exit 1"}, Failed, "exit status 1", "sorry", true},
		{"a missing program", []string{"nosuchtool test"}, Skipped, "nosuchtool is not installed", "", false},
		{"a missing program in make", []string{"printf 'x:\\n\\tnosuchtool\\n' >Makefile; make x"}, Skipped, "nosuchtool is not installed", "", false},
		{"a missing program beside one that passes", []string{"true", "nosuchtool test"}, Passed, "nosuchtool is not installed", "", false},
		{"a missing program first", []string{"nosuchtool test", "true"}, Passed, "nosuchtool is not installed", "", false},
		{"a missing program before one that fails", []string{"nosuchtool test", "false"}, Failed, "exit status 1", "", true},
		{"a full disk", []string{"head -c 100000000 /dev/zero >large"}, Resource, "disk", "No space left", false},
		{"no commands", nil, Skipped, "no commands", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := r.Run(t.Context(), request(tree(t, "README", "x"), test.lines...))
			if got.Status != test.want || !strings.Contains(got.Why, test.why) || (test.why == "") != (got.Why == "") || !strings.Contains(got.Tail(), test.tail) || got.Blocks != test.blocks {
				t.Errorf("%+v\ntail %q", got, got.Tail())
			}
			if len(got.Commands) != len(test.lines) && len(test.lines) > 0 {
				t.Errorf("%d commands", len(got.Commands))
			}
		})
	}
}

// TestGoModule runs the commands of a small Go repository.
func TestGoModule(t *testing.T) {
	r := runner(t)
	if findProgram("go", r.Path) == "" {
		t.Skip("needs go")
	}
	needs.Long(t, "compiles with an empty cache")
	dir := tree(t,
		"go.mod", "module example.com/shop\n\ngo 1.24\n",
		"sum.go", "package shop\n\nfunc Sum(a, b int) int { return a + b }\n",
		"sum_test.go", "package shop\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error(\"wrong\")\n\t}\n}\n",
	)
	begun := time.Now()
	q := request(dir, "go vet ./...", "go test ./...")
	q.Limits.Sandbox.Scratch = 0
	got := r.Run(t.Context(), q)
	if got.Status != Passed {
		t.Errorf("%+v", got)
	}
	t.Logf("%v", time.Since(begun))
}
