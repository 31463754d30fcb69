//go:build unix

package lint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
)

// script writes a program for the shell.
func script(t *testing.T, file, commands string) {
	t.Helper()
	needs.WriteProgram(t, file, "#!/bin/sh\n"+commands+"\n")
}

// TestGovetExecutesNothing plants every program that a tree can make Go start.
func TestGovetExecutesNothing(t *testing.T) {
	env := goEnv(t)
	evil := t.TempDir()
	mark := filepath.Join(evil, "mark")
	for _, name := range []string{"gcc", "cc", "clang", "git", "hg", "gopackagesdriver", "toolexec", "pkg-config"} {
		script(t, filepath.Join(evil, name), "touch "+mark+"; exit 1")
	}
	env.Path = evil + string(filepath.ListSeparator) + env.Path
	t.Setenv("GOFLAGS", "-toolexec="+filepath.Join(evil, "toolexec"))
	t.Setenv("GOPACKAGESDRIVER", filepath.Join(evil, "gopackagesdriver"))
	t.Setenv("CC", filepath.Join(evil, "gcc"))
	r := vetTree(t, env, `
-- go.mod --
module example.com/m

go 1.22

toolchain go1.999.0
-- .git/config --
[core]
	fsmonitor = "touch `+mark+`"
-- a.go --
package m

//go:generate touch `+mark+`

func f(x int) { x = x }
-- c.go --
package m

// #cgo pkg-config: evil
// #cgo CFLAGS: -fplugin=evil.so
// int x;
import "C"
-- cmd/main.go --
package main

func main() {}
-- a_test.go --
package m

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.WriteFile("`+mark+`", nil, 0o600) }

func init() { os.WriteFile("`+mark+`", nil, 0o600) }
`)
	same(t, r, "a.go:5 assign medium")
	if _, err := os.Stat(mark); err == nil {
		t.Error("something of the tree was executed")
	}
}

// TestGovetTimeout: a checker that hangs is ended.
func TestGovetTimeout(t *testing.T) {
	env := goEnv(t)
	dir := t.TempDir()
	script(t, filepath.Join(dir, "go"), "sleep 1000")
	env.Path = dir + string(filepath.ListSeparator) + env.Path
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if r := govet(ctx, goInput(t, env, rowsUnchecked)); r.Status != precedent.StatusTimeout || r.Error == "" {
		t.Errorf("%s, %q", r.Status, r.Error)
	}
}

// TestGovetMemory: code that needs more and more memory ends the checker, not the machine.
func TestGovetMemory(t *testing.T) {
	env := goEnv(t)
	dir := t.TempDir()
	var src strings.Builder
	src.WriteString("package m\n\nconst s0 = \"0123456789abcdef\"\n")
	for i := range 40 {
		fmt.Fprintf(&src, "const s%d = s%d + s%d\n", i+1, i, i)
	}
	src.WriteString("const n = len(s40)\n")
	write(t, dir, "go.mod", "module example.com/m\n")
	write(t, dir, "a.go", src.String())
	c := newStarter(t.Context(), &Input{Go: env}, dir, t.TempDir())
	_, err := c.run(t.Context(), "off", vetRequest{Dir: dir, Files: []string{filepath.Join(dir, "a.go")}, MaxHeap: 100 << 20})
	needs.Equal(t, tooLarge, reasonOfError(err))
}

// TestGovetChecker: what a broken checker does is an error, not a clean bill.
func TestGovetChecker(t *testing.T) {
	env := goEnv(t)
	for _, test := range []struct{ name, script, says string }{
		{"exits", "echo 'out of luck' >&2; exit 3", "package db (the checker failed)"},
		{"nonsense", "echo nonsense", "package db (the checker failed)"},
		{"endless output", "yes", "package db (the checker failed)"},
		{"endless complaints", "head -c 9000000 /dev/zero >&2; echo '{}'", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			env.Tool = filepath.Join(t.TempDir(), "tool")
			script(t, env.Tool, test.script)
			r := vetTree(t, env, rowsUnchecked)
			if test.says == "" {
				needs.Equal(t, precedent.StatusSkipped, r.Status)
			} else if r.Status != precedent.StatusError || !strings.Contains(said(r), test.says) {
				t.Errorf("%s, %q", r.Status, said(r))
			}
		})
	}
}

// TestGovetCrash: a package that kills the checker is not checked, and spoils no other.
func TestGovetCrash(t *testing.T) {
	env := goEnv(t)
	dir := t.TempDir()
	self, request := env.Tool, filepath.Join(dir, "request")
	env.Tool = filepath.Join(dir, "tool")
	script(t, env.Tool, "cat >"+request+"; if grep -q bad/bad.go "+request+
		"; then echo 'panic: secret of the tree' >&2; exit 2; fi; exec "+self+" <"+request)
	r := run(t, "govet", goInput(t, env, goMod+assigns("a/a.go", "a")+assigns("bad/bad.go", "bad")+assigns("c/c.go", "c")))
	same(t, r, "a/a.go:4 assign medium", "c/c.go:4 assign medium")
	if want := "package bad (the checker crashed; if modules are missing, run go mod download)"; said(r) != want {
		t.Errorf("%q, want %q", said(r), want)
	}
	if r.Status != precedent.StatusOK || !r.Files["a/a.go"] || !r.Files["c/c.go"] || r.Files["bad/bad.go"] {
		t.Errorf("%s, %v", r.Status, r.Files)
	}
}
