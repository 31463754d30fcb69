package lint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/needs"
)

// goEnv is the Go of the machine that runs the tests, which starts the test binary as the process
// that the Go analyzers run in. Nothing is needed of a user's home.
func goEnv(t *testing.T) GoEnv {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs go on PATH")
	}
	return GoEnv{
		Path: os.Getenv("PATH"), ModCache: filepath.Join(t.TempDir(), "mod"), Tool: needs.Self(t),
	}
}

// vetTree runs govet on a tree in txtar form whose files are all added, but
// for those of which the name begins with "base/".
func vetTree(t *testing.T, env GoEnv, archive string) Result {
	t.Helper()
	return run(t, "govet", goInput(t, env, archive))
}

// goInput makes the input for such a tree. The base has the module files of the tree, unless others are below "was/".
func goInput(t *testing.T, env GoEnv, archive string) *Input {
	t.Helper()
	dir, base, was := t.TempDir(), map[string][]byte{}, map[string][]byte{}
	in := &Input{
		Change: &diff.Change{}, Go: env, Tree: func(context.Context) (string, error) { return dir, nil },
		Trusted: Trusted{Read: func(name string) ([]byte, error) {
			if data, ok := was[name]; ok {
				return data, nil
			} else if data, ok := base[name]; ok {
				return data, nil
			}
			return nil, fs.ErrNotExist
		}},
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		if name, ok := strings.CutPrefix(f.Name, "was/"); ok {
			was[name] = f.Data
			continue
		}
		name, old := strings.CutPrefix(f.Name, "base/")
		if strings.HasPrefix(path.Base(name), "go.") {
			base[name] = f.Data
		}
		write(t, dir, name, string(f.Data))
		if !old {
			in.Change.Files = append(in.Change.Files, added(name, string(f.Data)).Files...)
		}
	}
	return in
}

// goMod is the module of most trees.
const goMod = "-- go.mod --\nmodule example.com/m\n\ngo 1.22\n"

// assigns is a file whose line 4 assigns a variable to itself.
func assigns(file, name string) string {
	return "-- " + file + " --\npackage " + name + "\n\n// F does nothing.\nfunc F(x int) { x = x }\n"
}

const (
	elsewhere = "\nimport _ \"example.com/elsewhere\"\n"
	tidy      = "go.mod or go.sum lacks an imported module: run go mod tidy)"
)

const rowsUnchecked = goMod + rows

const rows = `-- db/db.go --
package db

import "database/sql"

func Count(db *sql.DB) (n int) {
	rows, _ := db.Query("select name from people")
	for rows.Next() {
		n++
	}
	return n
}
`

// usesMissing has a package with a function of a module that is not downloaded. Its caller has no type errors, because
// consequences of an unknown type are not reported, and makes analyzers crash.
const usesMissing = needsGone + `-- dep/dep.go --
package dep

import "example.com/gone"

func Open() gone.DB { return gone.New() }
-- uses/uses.go --
package uses

import (
	"fmt"

	"example.com/m/dep"
)

func F() {
	for i := range dep.Open().All() {
		fmt.Println(i)
	}
}
-- good/good.go --
package good

func F(x int) { x = x }
`

// needsGone is a module that requires one that is not downloaded.
const needsGone = goMod + `
require example.com/gone v1.0.0
-- go.sum --
example.com/gone v1.0.0 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
example.com/gone v1.0.0/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
`

// said is what a result says besides its findings.
func said(r Result) string {
	all := []string{}
	if r.Error != "" {
		all = append(all, r.Error)
	}
	for _, u := range r.NotChecked {
		all = append(all, fmt.Sprintf("%s %s (%s)", u.Kind, u.Path, u.Reason))
	}
	return strings.Join(all, "; ")
}

// TestGovetMissing: with and without a sandbox, the same is left out.
func TestGovetMissing(t *testing.T) {
	for _, external := range []External{{}, {Sandbox: Sandbox(os.Getenv("PATH"), os.Getenv("PATH"))}} {
		in := goInput(t, goEnv(t), usesMissing)
		in.External = external
		r := run(t, "govet", in)
		same(t, r, "good/good.go:3 assign medium")
		if want := map[string]bool{"dep/dep.go": false, "uses/uses.go": false, "good/good.go": true}; !maps.Equal(r.Files,
			want) {
			t.Errorf("%v", r.Files)
		}
		why := string(notFetched)
		want := []precedent.NotChecked{
			{Kind: precedent.PackageKind, Path: "dep", Reason: why}, {Kind: precedent.PackageKind, Path: "uses", Reason: why},
		}
		needs.Equal(t, want, r.NotChecked)
	}
}

// TestGovetPackages checks packages of one module, each in its folder. What is wrong with one spoils no other.
func TestGovetPackages(t *testing.T) {
	tests := []struct {
		folder, files string
		want, says    string // of the folder: findings, and what is not checked
	}{
		{"declared", `-- a.go --
package m

import ("os"; "os/signal")

func F() { c := make(chan os.Signal); signal.Notify(c, os.Interrupt) }
`, "declared/a.go:5 sigchanyzer medium", ""},
		{"rows", rows, "rows/db/db.go:6 sqlrowserr medium", ""},
		{
			"types", `-- bad/a.go --
package bad

func F() int { return "x" + undefined }
-- uses/a.go --
package uses

import "example.com/m/types/bad"

func F(x int) { x = bad.F(); x = x }
`, "types/uses/a.go:5 assign medium", "package types/bad (compile error)",
		},
		{"syntax", "-- a.go --\npackage m\n\nfunc F( {\n", "", "package syntax (compile error)"},
		{"missing", "-- a.go --\npackage m\n" + elsewhere, "", "package missing (" + tidy},
		{"tests", `-- base/a.go --
package m

func F() {}
-- a_test.go --
package m

import "testing"

func TestF(t *testing.T) {
	F()
	go func() { t.Fatal("lost") }()
	t.Errorf("%d", "x")
}
-- b_test.go --
package m_test

import "testing"

func Testlower(t *testing.T) {}

func TestG(t *testing.T) { t.Logf("%d", "x") }
`, "tests/a_test.go:7 testinggoroutine medium, tests/a_test.go:8 printf medium, tests/b_test.go:5 tests medium, tests/b_test.go:7 printf medium", ""},
		{
			"broken", assigns("a.go", "m") + "-- a_test.go --\npackage m\n\nvar x int = \"not a number\"\n",
			"broken/a.go:4 assign medium", "file broken/a_test.go (compile error)",
		},
		{
			"system", "-- a.go --\npackage m\n" + assigns("a_plan9.go", "m"),
			"", "file system/a_plan9.go (not built on " + runtime.GOOS + "/" + runtime.GOARCH + " without cgo)",
		},
		{
			"cycle", "-- a/a.go --\npackage a\n\nimport _ \"example.com/m/cycle/b\"\n" +
				"-- b/b.go --\npackage b\n\nimport _ \"example.com/m/cycle/a\"\n",
			"", "package cycle/a (import cycle); package cycle/b (import cycle)",
		},
		{"line", `-- base/b.go --
package m
-- a.go --
package m

// F does nothing.
//line b.go:1
func F(x int) { x = x }
`, "line/a.go:5 assign medium", ""}, // the directive is not believed
		{"constant", assigns("a.go", "m") + "\nconst n = len(\"ab\")\n", "constant/a.go:4 assign medium", ""},
	}
	archive := goMod
	for _, test := range tests {
		files := txtar.Parse([]byte(test.files))
		for i := range files.Files {
			name, old := strings.CutPrefix(files.Files[i].Name, "base/")
			files.Files[i].Name = map[bool]string{true: "base/"}[old] + path.Join(test.folder, name)
		}
		archive += string(txtar.Format(files))
	}
	all := vetTree(t, goEnv(t), archive)
	needs.Equal(t, precedent.StatusOK, all.Status)
	for _, test := range tests {
		t.Run(test.folder, func(t *testing.T) {
			var r Result
			for _, f := range all.Findings {
				if strings.HasPrefix(f.Path, test.folder+"/") {
					r.Findings = append(r.Findings, f)
				}
			}
			for _, n := range all.NotChecked {
				if strings.HasPrefix(n.Path+"/", test.folder+"/") {
					r.NotChecked = append(r.NotChecked, n)
				}
			}
			found(t, r, test.want)
			needs.Equal(t, test.says, said(r))
		})
	}
}

// TestGovet checks trees with other modules, or that leave nothing to check.
func TestGovet(t *testing.T) {
	const skipped = precedent.StatusSkipped
	env := goEnv(t)
	for _, test := range []struct {
		name, tree string
		want       []string
		status     precedent.Status
		says       string // in Error
	}{
		{"no go.mod", "-- a.go --\npackage m\n", nil, skipped, "a.go (no go.mod in its folder or a parent folder)"},
		{
			"required module without a checksum",
			goMod + "\nrequire example.com/elsewhere v1.0.0\n-- go.sum --\n-- a.go --\npackage m\n" + elsewhere,
			nil, skipped, "package . (" + tidy,
		},

		{"tests that need a module that is not downloaded", needsGone + assigns("a.go", "m") + `-- a_test.go --
package m

import "example.com/gone"

var _ gone.DB
-- b/b_test.go --
package b

import "example.com/gone"

var _ gone.DB
`, []string{"a.go:4 assign medium"}, precedent.StatusOK, "file b/b_test.go (a needed"},

		{
			"toolchain that cannot be had",
			strings.Replace(goMod, "1.22", "1.999.0\n\ntoolchain go1.999.1", 1) + "-- a.go --\npackage m\n",
			nil, skipped, "package . (needs a newer version of Go)",
		},
		{
			"broken go.mod", "-- go.mod --\nmodul example.com/m\n-- a.go --\npackage m\n",
			nil, skipped, "package . (go.mod or go.work cannot be used)",
		},

		{"several modules", goMod + assigns("a.go", "m") + `-- tools/go.mod --
module example.com/m/tools

go 1.23
` + assigns("tools/gen/a.go", "gen") + `-- docs/go.mod --
module example.com/docs

go 1.999
-- docs/a.go --
package docs
`, []string{"a.go:4 assign medium", "tools/gen/a.go:4 assign medium"}, precedent.StatusOK, "package docs ("},

		{"workspace", `
-- go.work --
go 1.22

use (
	./a
	./b
)
-- base/a/go.mod --
module example.com/a

go 1.22
-- base/b/go.mod --
module example.com/b

go 1.22

require example.com/a v0.0.0
-- base/a/a.go --
package a

import "fmt"

func Logf(format string, args ...any) { fmt.Printf(format, args...) }
-- b/b.go --
package b

import "example.com/a"

func F() { a.Logf("%d", "x") }
-- c/go.mod --
module example.com/c

go 1.22
-- c/c.go --
package c

// F is outside the workspace.
func F(x int) { x = x }
`, []string{"b/b.go:5 printf medium", "c/c.go:4 assign medium"}, precedent.StatusOK, ""},

		{"vendor", goMod + `
require example.com/log v1.0.0
-- base/vendor/modules.txt --
# example.com/log v1.0.0
## explicit; go 1.22
example.com/log
-- base/vendor/example.com/log/log.go --
package log

import "fmt"

func Warnf(format string, args ...any) { fmt.Printf(format, args...) }
-- a.go --
package m

import "example.com/log"

func F() { log.Warnf("%d", "x") }
`, []string{"a.go:5 printf medium"}, precedent.StatusOK, ""},

		{
			"testdata and underscores are not packages",
			goMod + "-- testdata/a.go --\npackage broken (\n-- _old/a.go --\npackage broken (\n",
			nil, skipped, "no Go file",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := vetTree(t, env, test.tree)
			same(t, r, test.want...)
			if said := said(r); r.Status != test.status || !strings.Contains(said, test.says) || (test.says == "") != (said == "") {
				t.Errorf("status %s, %q; want %s, %q", r.Status, said, test.status, test.says)
			}
		})
	}
}

// TestGovetChangedLinesOnly: old defects are not the change's.
func TestGovetChangedLinesOnly(t *testing.T) {
	src := `package m

import "fmt"

var _ = fmt.Sprintf("%d", "old")

var _ = fmt.Sprintf("%s %d",
	"kept",
	"changed")
`
	in, lines := goInput(t, goEnv(t), goMod+"-- a.go --\n"+src), strings.Split(src, "\n")
	in.Change = change("a.go", "@@7", " "+lines[6], " "+lines[7], "-\t1)", "+"+lines[8])
	same(t, run(t, "govet", in), "a.go:9 printf medium")
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	file := filepath.Join(dir, name)
	needs.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	needs.NoError(t, os.WriteFile(file, []byte(content), 0o644))
}

// TestGovetWithoutMeans: what is missing is said, and is not a failure.
func TestGovetWithoutMeans(t *testing.T) {
	c := added("a.go", "package m\n")
	tree := func(context.Context) (string, error) { return t.TempDir(), nil }
	fail := func(context.Context) (string, error) { return "", errors.New("disk full") }
	const skipped = precedent.StatusSkipped
	for _, test := range []struct {
		name   string
		in     *Input
		status precedent.Status
		says   string
	}{
		{"relative PATH", &Input{Change: c, Tree: tree, Go: GoEnv{Path: ".:bin", Tool: "x"}}, skipped, "no Go toolchain on PATH"},
		{"no tree", &Input{Change: c, Go: goEnv(t)}, skipped, "not exported"},
		{"export fails", &Input{Change: c, Go: goEnv(t), Tree: fail}, precedent.StatusError, "export the head: disk full"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := run(t, "govet", test.in)
			if r.Status != test.status || !strings.Contains(r.Error, test.says) {
				t.Errorf("status %s, error %q", r.Status, r.Error)
			}
		})
	}
}
