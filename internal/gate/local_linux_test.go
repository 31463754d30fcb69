package gate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// unsandboxed is a runner of a person who lets commands run without a sandbox, on a machine that has none.
func unsandboxed() Runner {
	return Runner{
		Sandbox: func(context.Context) (sandbox.Sandbox, error) {
			return sandbox.Sandbox{}, &sandbox.NoneError{Why: []string{"none"}}
		},
		Local: &Local{Env: []string{"PATH=" + os.Getenv("PATH"), "SAID=hello"}},
	}
}

// TestLocalOnlyOwn: what the person allows holds for the own work tree alone, never for the
// head of a pull request nor for its base.
func TestLocalOnlyOwn(t *testing.T) {
	t.Parallel()
	proof := filepath.Join(t.TempDir(), "ran")
	for _, test := range []struct {
		trust Trust
		want  Status
	}{{"", Skipped}, {Pull, Skipped}, {Base, Skipped}, {Own, Passed}} {
		q := request(tree(t, "a", "b"), "touch "+proof)
		q.Trust = test.trust
		got := unsandboxed().Run(t.Context(), q)
		if got.Status != test.want {
			t.Errorf("trust %q: %+v", test.trust, got)
		}
		if _, err := os.Stat(proof); (err == nil) != (test.want == Passed) {
			t.Errorf("trust %q: the file of the command: %v", test.trust, err)
		}
	}
}

// TestLocalInTheSandbox: where there is a sandbox, it is used, whatever the person allows.
func TestLocalInTheSandbox(t *testing.T) {
	t.Parallel()
	r := runner(t)
	r.Local = &Local{Env: []string{"PATH=" + os.Getenv("PATH")}}
	proof := filepath.Join(folder(t), "ran")
	q := request(tree(t, "a", "b"), "touch "+proof)
	q.Trust = Own
	wantRun(t, r, q, Failed, "")
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran outside of the sandbox")
	}
}

// TestLocalRun: commands without a sandbox get the given environment and nothing else, work on a
// copy each, are judged as those in a sandbox are, and end in time with all that they started.
func TestLocalRun(t *testing.T) {
	t.Parallel()
	t.Run("copies", func(t *testing.T) {
		t.Parallel()
		dir := tree(t, "a", "b", "sub/script.sh", "#!/bin/sh\necho $SAID\n")
		needs.NoError(t, os.Symlink("a", filepath.Join(dir, "link")))
		q := request(dir, "echo new >a && test $(cat link) = new && env", "sub/script.sh && test $(cat a) = b")
		q.Trust = Own
		shown := 0
		q.Show = func(CommandResult) { shown++ }
		got := unsandboxed().Run(t.Context(), q)
		if got.Status != Passed || shown != 2 || !strings.Contains(got.Commands[1].Output, "hello") {
			t.Fatalf("%d shown: %+v", shown, got)
		}
		for line := range strings.Lines(got.Commands[0].Output) {
			if name, _, _ := strings.Cut(line, "="); strings.Contains(name, "HOME") || strings.Contains(name, "GO") {
				t.Errorf("the command got %s", line)
			}
		}
		needs.Result(t, "the tree", []byte("b"))(os.ReadFile(filepath.Join(dir, "a")))
	})
	for _, test := range []struct {
		name, line string
		want       Status
		why        string
	}{
		{"fails", "echo sorry >&2; exit 3", Failed, "exit status 3"},
		{"too late", "sleep 600 & sleep 600", TimedOut, "not done after"},
		{"floods", "yes", Resource, "over the output limit"},
		{"long", "seq 100000; exit 1", Failed, "exit status 1"},
		{"nothing there", "no-such-program-at-all", Skipped, "no-such-program-at-all is not installed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			q := request(tree(t, "a", "b"), test.line)
			q.Trust = Own
			if test.want == TimedOut {
				q.Limits.Time = time.Second
			}
			got := wantRun(t, unsandboxed(), q, test.want, test.why)
			if test.name == "long" &&
				(!strings.HasSuffix(got.Tail(), "99999\n100000") || !strings.HasPrefix(got.Commands[0].Output, "1\n2\n")) {
				t.Errorf("%q", got.Tail())
			}
		})
	}
}
