package lint

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// TestChoose: the policy adds known linters, and changes none of the operator's.
func TestChoose(t *testing.T) {
	own := Linter{Name: "eslint", Command: []string{"own", "{files}"}, Files: []string{"*.x"}, Sarif: true}
	got, failures := Choose([]Linter{own}, []string{"eslint", "tsc", "bash"})
	tsc, _ := Preset("tsc")
	needs.Equal(t, []Linter{own, tsc}, got)
	if len(failures) != 1 || !strings.Contains(failures[0].Error, `unknown linter "bash"`) {
		t.Errorf("%v", failures)
	}
}

func TestFindProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "tool-1.2")
	needs.WriteProgram(t, file, "#!/bin/sh\n")
	needs.NoError(t, os.Symlink("tool-1.2", filepath.Join(dir, "tool")))
	real := needs.Value(filepath.EvalSymlinks(file))(t)
	t.Chdir(dir)
	for _, test := range []struct{ name, path, want string }{
		{"tool", "/nowhere:" + dir, real},
		{filepath.Join(dir, "tool"), "", real},
		{"tool", "", ""},
		{"tool", ".:::rel", ""}, // folders of the hostile tree
		{"./tool", dir, ""},
		{"other", dir, ""},
		{filepath.Join(dir, "other"), dir, ""},
	} {
		got, err := FindProgram(test.name, test.path)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s on %q: %q, %v, want %q", test.name, test.path, got, err, test.want)
		}
	}
}

func TestWholeLines(t *testing.T) {
	cut := sandbox.Output{Head: []byte("one\ntw"), Tail: []byte("ee\nfour\n"), Omitted: 9}
	needs.Equal(t, "one\nfour\n", string(wholeLines(cut)))
	needs.Equal(t, "one\ntwo\n", string(wholeLines(sandbox.Output{Head: []byte("one\ntw"), Tail: []byte("o\n")})))
}

// TestBoxed runs a linter in a real sandbox: it sees the tree and nothing else.
func TestSandboxed(t *testing.T) {
	box, err := sandbox.Probe(t.Context(), os.Getenv("PATH"))
	if err != nil {
		t.Logf("no sandbox: %v", err)
		needs.Missing(t, "PRECEDENT_TEST_SANDBOX", "a sandbox")
	}
	bin, tree := t.TempDir(), t.TempDir()
	program := filepath.Join(bin, "lister")
	const script = "#!/bin/sh\nls; env | sort; echo \"at $0\"; (echo x >mark) 2>/dev/null && echo wrote; exit 3\n"
	needs.WriteProgram(t, program, script)
	needs.NoError(t, os.Chmod(tree, 0o755))
	needs.NoError(t, os.WriteFile(filepath.Join(tree, "a.txt"), nil, 0o444))
	b := &sandboxed{box: box, path: bin}
	out := needs.Value(b.Run(t.Context(), Job{Tree: tree, Argv: []string{"lister"}, Env: []string{"NO_COLOR=1"}}))(t)
	got := string(out.Stdout)
	if out.Exit != 3 || out.Dir != sandbox.Work || out.Cut || out.Stopped != "" || !strings.HasPrefix(got, "a.txt\n") {
		t.Errorf("%+v: %s", out, got)
	}
	for _, want := range []string{"HOME=/tmp\n", "NO_COLOR=1\n", "at /linter/lister\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "wrote") || strings.Contains(got, bin) {
		t.Errorf("it saw or wrote what is not its own:\n%s", got)
	}
	if _, err := b.Run(t.Context(), Job{Tree: tree, Argv: []string{"absent"}}); err == nil ||
		!strings.Contains(err.Error(), ErrNotInstalled.Error()) {
		t.Errorf("%v", err)
	}
}
