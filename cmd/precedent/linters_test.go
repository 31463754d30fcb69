package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

func TestOperatorsLinters(t *testing.T) {
	ruff, _ := lint.Preset("ruff")
	moved, _ := lint.Preset("eslint")
	moved.Mounts = []string{"/opt/node"}
	own := lint.Linter{
		Name: "own", Command: []string{"own", "{files}"}, Files: []string{"*.x"}, Patterns: []string{"%f:%l: %m"},
		Configs: []string{".ownrc"}, Exits: []int{1, 3}, Alone: true,
	}
	const text = `linters:
  - ruff
  - {name: eslint, mounts: [/opt/node]}
  - name: own
    command: [own, "{files}"]
    files: ["*.x"]
    errorformat: ["%f:%l: %m"]
    configs: [.ownrc]
    exits: [1, 3]
    alone: true
`
	file, err := parseConfig("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]lint.Linter{ruff, moved, own}, file.linters); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	o := operator{linters: file.linters, linted: file.linted}
	if s := o.linterSettings(); len(s) != 3 || s[2] != (setting{"linters.own", "own {files}", "file c.yaml:4"}) {
		t.Errorf("%+v", s)
	}

	// The policy adds known ones, and changes none of the operator's.
	x, failures := (&app{}).external(o, precedent.Policy{Linters: []string{"eslint", "tsc", "bash"}})
	tsc, _ := lint.Preset("tsc")
	if diff := cmp.Diff([]lint.Linter{ruff, moved, own, tsc}, x.Linters); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(failures) != 1 || !strings.Contains(failures[0].Error, `no linter "bash" is known`) {
		t.Errorf("%v", failures)
	}
}

func TestOperatorsLintersWrong(t *testing.T) {
	for text, says := range map[string]string{
		"linters: ruff":                                    "c.yaml:1:10: linters wants a list",
		"linters: [rufff]":                                 `c.yaml:1:11: no linter "rufff" is known`,
		"linters: [[ruff]]":                                "a linter is a name or a mapping",
		"linters: [ruff, {name: ruff}]":                    "the linter ruff is named twice",
		"linters: [{command: [x]}]":                        "a linter without a name",
		"linters: [{name: a/b}]":                           "a linter without a name in one word",
		"linters: [{name: x}]":                             "the linter x: it has no command",
		`linters: [{name: x, command: [x]}]`:               "it is for no files",
		`linters: [{name: x, command: [x], files: ["*"]}]`: "either the format sarif or errorformat",
		`linters: [{name: x, command: [x], files: ["*"], format: json}]`:                  "want sarif, or errorformat instead",
		`linters: [{name: x, command: [x], files: ["[a"], format: sarif}]`:                "no glob",
		`linters: [{name: x, command: [x], files: ["*"], errorformat: ["%"]}]`:            "no errorformat",
		`linters: [{name: x, command: x, files: ["*"], format: sarif}]`:                   "command of x: want a list of texts",
		`linters: [{name: x, command: [a/b], files: ["*"], format: sarif}]`:               "an absolute path",
		`linters: [{name: x, command: [x], files: ["*"], format: sarif, mounts: [a]}]`:    "want absolute paths",
		`linters: [{name: x, command: [x], files: ["*"], format: sarif, exits: many}]`:    "want a list of numbers",
		`linters: [{name: x, command: [x], files: ["*"], format: sarif, alone: perhaps}]`: "want true or false",
		`linters: [{name: x, shell: "rm"}]`:                                               `unknown key "shell" in the linter x`,
	} {
		if _, err := parseConfig("c.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

func TestFindProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no links")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "tool-1.2")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("tool-1.2", filepath.Join(dir, "tool")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		t.Fatal(err)
	}
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
		got, err := findProgram(test.name, test.path)
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s on %q: %q, %v, want %q", test.name, test.path, got, err, test.want)
		}
	}
}

func TestWholeLines(t *testing.T) {
	cut := sandbox.Output{Head: []byte("one\ntw"), Tail: []byte("ee\nfour\n"), Omitted: 9}
	if got := string(wholeLines(cut)); got != "one\nfour\n" {
		t.Errorf("%q", got)
	}
	if got := string(wholeLines(sandbox.Output{Head: []byte("one\ntw"), Tail: []byte("o\n")})); got != "one\ntwo\n" {
		t.Errorf("%q", got)
	}
}

// TestBoxed runs a linter in a real box: it sees the tree and nothing else.
func TestBoxed(t *testing.T) {
	box, err := sandbox.Probe(t.Context(), os.Getenv("PATH"))
	if err != nil {
		t.Logf("no sandbox: %v", err)
		needs.Missing(t, "PRECEDENT_TEST_SANDBOX", "a sandbox")
	}
	bin, tree := t.TempDir(), t.TempDir()
	program := filepath.Join(bin, "lister")
	const script = "#!/bin/sh\nls; env | sort; echo \"at $0\"; (echo x >mark) 2>/dev/null && echo wrote; exit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree, "a.txt"), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	b := &boxed{box: box, path: bin}
	out, err := b.Run(t.Context(), lint.Job{Tree: tree, Argv: []string{"lister"}, Env: []string{"NO_COLOR=1"}})
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := b.Run(t.Context(), lint.Job{Tree: tree, Argv: []string{"absent"}}); err == nil || !strings.Contains(err.Error(), lint.ErrNotInstalled.Error()) {
		t.Errorf("%v", err)
	}
}
