package lint

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/sandbox"
)

// canary is a constant in a folder that no review may read. Analyzers quote it: it is a
// bad regular expression, and a format without directives.
const canary = "[KANARIE-5d41402a"

// readsCanary is a package that makes analyzers and compilers quote the canary.
var readsCanary = "-- a.go --\n" +
	strings.Replace(printsCanary("m"), "\n// F", "\nvar _ [x.Number]int = x.Canary\n\n// F", 1) +
	"-- b/b.go --\n" + printsCanary("b") + "-- c/c.go --\npackage c\n\n// F does nothing.\nfunc F(y int) { y = y }\n"

func printsCanary(name string) string {
	return "package " + name + `

import (
	"fmt"
	"regexp"

	"corp.example/x"
)

var _ = regexp.MustCompile(x.Canary)

// F prints.
func F(y int) {
	y = y
	fmt.Printf(x.Canary, y<<x.Number)
}
`
}

// corpFiles are the module with the canary.
func corpFiles() map[string]string {
	return map[string]string{
		"go.mod":   "module corp.example/x\n\ngo 1.22\n",
		"x.go":     "package x\n\nconst Canary = \"" + canary + "\"\n\nconst Number = 777123\n",
		"x.h":      "#define CANARY \"" + canary + "\"\n",
		"flag.txt": canary + "\n",
	}
}

// lookOutside are the forms in which a module can name what is not in its tree. OUT
// is a folder outside of it, UP the same as a path from the tree.
var lookOutside = map[string]string{
	"replace":             goMod + needsX + replaceX + "OUT\n" + readsCanary,
	"replace of the base": goMod + needsX + replaceX + "OUT\n" + was + needsX + replaceX + "OUT\n" + readsCanary,
	"replace, relative":   goMod + needsX + replaceX + "UP\n" + readsCanary,
	"replace, old": "-- go.mod --\nmodule example.com/m\n\ngo 1.12\n" + needsX +
		"\nreplace corp.example/x v0.0.0 => OUT\n" + readsCanary,
	"workspace":           "-- go.work --\ngo 1.22\n\nuse (\n\t.\n\tOUT\n)\n" + goMod + readsCanary,
	"workspace, relative": "-- go.work --\ngo 1.22\n\nuse (\n\t.\n\tUP\n)\n" + goMod + readsCanary,
	"workspace, replace":  "-- go.work --\ngo 1.22\n\nuse .\n" + replaceX + "OUT\n" + goMod + needsX + readsCanary,
	"nested module":       "-- go.work --\ngo 1.22\n\nuse (\n\t.\n\t./n\n)\n" + goMod + nested + readsCanary,
	"through a nested module": goMod + "\nrequire example.com/n v0.0.0\n\nreplace example.com/n => ./n\n" + nested +
		readsCanary,
	"vendor": goMod + needsX + replaceX + "OUT\n" +
		"-- base/vendor/modules.txt --\n# corp.example/x v0.0.0 => OUT\n## explicit; go 1.22\ncorp.example/x\n" + readsCanary,
	"required from the module cache": goMod + "\nrequire corp.example/x v1.0.0\n-- go.sum --\nSUMS" +
		was + "-- was/go.sum --\n" + readsCanary,
	"replaced from the module cache": goMod + "\nrequire corp.example/x v0.1.0\n\nreplace corp.example/x v0.1.0 => " +
		"corp.example/x v1.0.0\n-- go.sum --\nSUMS" + was + "-- was/go.sum --\n" + readsCanary,
	"folder of the module cache": goMod + needsX + replaceX + "CACHE/corp.example/x@v1.0.0\n" + readsCanary,
	"embedded": goMod + "-- a.go --\npackage m\n\nimport _ \"embed\"\n\n//go:embed UP/flag.txt OUT/flag.txt\n" +
		"var s string\n\nfunc f(y int) { y = y }\n",
	"cgo": goMod + "-- a.go --\npackage m\n\n// #include \"OUT/x.h\"\nimport \"C\"\n\nvar s = C.CANARY\n" +
		"-- c.go --\npackage m\n\nfunc f(y int) { y = y }\n",
	"line directive": goMod + "-- a.go --\npackage m\n\nfunc f(y int) {\n//line OUT/x.go:3\n\ty = y\n}\n",
	"assembly": goMod + "-- base/a.s --\n#include \"OUT/x.h\"\nTEXT ·g(SB),0,$0-16\n\tRET\n" +
		"-- a.go --\npackage m\n\nfunc g(x int)\n\nfunc f(y int) { y = y }\n",
	"relative import":  goMod + "-- a.go --\npackage m\n\nimport x \"UP\"\n\nvar _ [1]int = x.Canary\n",
	"toolchain":        goMod + "\ntoolchain go1.22-OUT\n" + readsCanary,
	"broken go.mod":    "-- go.mod --\nmodule example.com/m\n\nrequire corp.example/x OUT\n\nfoo OUT\n" + readsCanary,
	"module directive": "-- go.mod --\nmodule \"OUT\"\n\ngo 1.22\n" + readsCanary,
}

const (
	needsX, replaceX = "\nrequire corp.example/x v0.0.0\n", "\nreplace corp.example/x => "
	was              = "-- was/go.mod --\nmodule example.com/m\n\ngo 1.22\n"
	nested           = "-- n/go.mod --\nmodule example.com/n\n\ngo 1.22\n" + needsX + replaceX + "OUT\n" +
		"-- n/n.go --\npackage n\n\nimport _ \"corp.example/x\"\n"
)

// TestGovetReadsNothingOutside: "READER … os.Root on a checkout", and all that leaves is what the tree says. What a
// folder outside of it holds, and whether it exists, does not show in the result of a review.
func TestGovetReadsNothingOutside(t *testing.T) {
	env := goEnv(t)
	_, noSandbox := sandbox.Probe(t.Context(), os.Getenv("PATH"))
	usual := []string{"replace", "workspace", "through a nested module", "required from the module cache", "embedded"}
	for name, archive := range lookOutside {
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(usual, name) {
				needs.Soak(t, "type-checks the packages of one more form three times")
			}
			said := reviewOf(t, env, External{}, archive, true)
			for _, word := range []string{"KANARIE", "5d41402a", "777123", "outside"} {
				if strings.Contains(said, word) {
					t.Errorf("%q is in\n%s", word, said)
				}
			}
			if noSandbox == nil { // in which the folder never exists
				needs.Equal(t, said, reviewOf(t, env, External{Sandbox: Sandbox(os.Getenv("PATH"), os.Getenv("PATH"))}, archive, true))
			}
			if noSandbox != nil || needs.Soaking() {
				needs.Equal(t, said, reviewOf(t, env, External{}, archive, false))
			}
		})
	}
}

// reviewOf is all that the Go analyzers say of a tree beside which the folder with the canary exists, or does not.
func reviewOf(t *testing.T, env GoEnv, external External, archive string, exists bool) string {
	t.Helper()
	top := t.TempDir()
	out := filepath.Join(top, "out")
	env.ModCache = filepath.Join(top, "mod")
	if exists {
		for name, content := range corpFiles() {
			write(t, out, name, content)
		}
		writeModule(t, env.ModCache, "corp.example/x", "v1.0.0", corpFiles())
	}
	archive = strings.NewReplacer("OUT", out, "UP", "../out", "CACHE", env.ModCache, "SUMS",
		sumsOf("corp.example/x", "v1.0.0", corpFiles())).Replace(archive)
	in := goInput(t, env, archive)
	in.External = external
	from := needs.Value(in.Tree(t.Context()))(t)
	tree := filepath.Join(top, "tree") // beside the folder, for relative paths
	needs.NoError(t, os.Rename(from, tree))
	in.Tree = func(context.Context) (string, error) { return tree, nil }
	r := run(t, "govet", in)
	for i := range r.Findings { // quotes are lines of the tree
		r.Findings[i].Quote, r.Findings[i].Evidence = "", nil
	}
	text := needs.Value(json.MarshalIndent(r, "", "  "))(t)
	return string(text)
}

// writeModule writes a module to a module cache.
func writeModule(t *testing.T, cache, module, version string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		write(t, filepath.Join(cache, module+"@"+version), name, content)
	}
	about := filepath.Join(cache, "cache", "download", module, "@v")
	write(t, about, version+".mod", files["go.mod"])
	write(t, about, version+".info", `{"Version":"`+version+`"}`)
	write(t, about, version+".ziphash", hash1(files))
}

func sumsOf(module, version string, files map[string]string) string {
	return fmt.Sprintf("%[1]s %[2]s %[3]s\n%[1]s %[2]s/go.mod %[4]s\n", module, version, hash1(files),
		hash1(map[string]string{"go.mod": files["go.mod"]}))
}

// hash1 is the hash in go.sum of a module with one file, and anything for others, whose
// files the go command does not read again.
func hash1(files map[string]string) string {
	file := sha256.Sum256([]byte(files["go.mod"]))
	sum := sha256.Sum256(fmt.Appendf(nil, "%x  go.mod\n", file))
	return "h1:" + base64.StdEncoding.EncodeToString(sum[:])
}

// TestGovetKeepsToTheBasesModules: a module that the base requires is read, and what the
// head requires beside it spoils only the packages that need it.
func TestGovetKeepsToTheBasesModules(t *testing.T) {
	env := goEnv(t)
	env.ModCache = filepath.Join(t.TempDir(), "mod")
	known := map[string]string{
		"go.mod": "module corp.example/Log\n",
		"log.go": "package log\n\nimport \"fmt\"\n\nfunc Warnf(format string, args ...any) { fmt.Printf(format, args...) }\n",
	}
	writeModule(t, env.ModCache, "corp.example/!log", "v1.0.0", known)
	writeModule(t, env.ModCache, "corp.example/x", "v1.0.0", corpFiles())
	archive := "-- was/go.mod --\nmodule example.com/m\n\ngo 1.22\n\nrequire corp.example/Log v1.0.0\n-- was/go.sum --\n" +
		sumsOf("corp.example/Log", "v1.0.0", known) +
		"-- go.mod --\nmodule example.com/m\n\ngo 1.22\n\nrequire (\n\tcorp.example/Log v1.0.0\n\tcorp.example/x " +
		"v1.0.0\n)\n-- go.sum --\n" +
		sumsOf("corp.example/Log", "v1.0.0", known) + sumsOf("corp.example/x", "v1.0.0", corpFiles()) +
		"-- a/a.go --\npackage a\n\nimport log \"corp.example/Log\"\n\nfunc f() { log.Warnf(\"%d\", \"x\") }\n" +
		"-- b/b.go --\npackage b\n\nimport \"corp.example/x\"\n\nvar s = x.Canary\n"
	in := goInput(t, env, archive)
	for _, external := range []External{{}, {Sandbox: Sandbox(os.Getenv("PATH"), os.Getenv("PATH"))}} {
		in.External = external
		r := run(t, "govet", in)
		same(t, r, "a/a.go:5 printf medium")
		if r.Status != precedent.StatusOK || said(r) != "package b ("+string(withheld)+")" {
			t.Errorf("%s, %q", r.Status, said(r))
		}
	}
	in.Trusted.OwnModules = true // who reviews a local change may use their own modules
	if r := run(t, "govet", in); said(r) != "" {
		t.Errorf("own modules: %s, %q", r.Status, said(r))
	}
}

// TestGovetLinks: an export has no links, and a tree that has one is not read.
func TestGovetLinks(t *testing.T) {
	in := goInput(t, goEnv(t), "-- go.mod --\nmodule example.com/m\n-- a.go --\npackage m\n")
	dir := needs.Value(in.Tree(t.Context()))(t)
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "x")); err != nil {
		t.Skip("no links")
	}
	if r := run(t, "govet", in); r.Status != precedent.StatusError || r.Error != "export the head: it has links" {
		t.Errorf("%s, %q", r.Status, r.Error)
	}
}

// TestInTree is the rule for folders, on every system.
func TestInTree(t *testing.T) {
	for _, test := range []struct {
		dir  string
		to   module.Version
		want string // "" is outside
	}{
		{".", module.Version{Path: "./x"}, "x"},
		{"a/b", module.Version{Path: "../c"}, "a/c"},
		{"a", module.Version{Path: ".."}, "."},
		{".", module.Version{Path: "../x"}, ""},
		{"a", module.Version{Path: "../../a"}, ""},
		{"a", module.Version{Path: "./x/../../../y"}, ""},
		{".", module.Version{Path: "/x"}, ""},
		{".", module.Version{Path: `\x`}, ""},
		{".", module.Version{Path: `C:\x`}, ""},
		{".", module.Version{Path: `\\host\x`}, ""},
		{".", module.Version{Path: "x", Version: "v1.0.0"}, ""},
		{".", module.Version{}, ""},
	} {
		if got, ok := inTree(test.dir, test.to); ok != (test.want != "") || ok && got != test.want {
			t.Errorf("%s, %v: %q, %v", test.dir, test.to, got, ok)
		}
	}
}

// TestChooseModules: go.sum chooses modules of the cache, and nothing beside them.
func TestChooseModules(t *testing.T) {
	top := t.TempDir()
	cache := filepath.Join(top, "mod")
	for _, dir := range []string{
		"mod/github.com/!burnt!sushi/toml@v1.0.0-!r!c1", "mod/cache/download", "x@v1.0.0",
		"mod/x@v1.0.0",
	} {
		needs.NoError(t, os.MkdirAll(filepath.Join(top, filepath.FromSlash(dir)), 0o755))
	}
	sums := "github.com/BurntSushi/toml v1.0.0-RC1 h1:x\n"
	for _, name := range []string{"../x", "/x", `..\x`, "a/../../x", "mod/../../x", "C:/x", "é"} {
		sums += name + " v1.0.0 h1:x\n"
	}
	sums += "example.com/x ../v1.0.0 h1:x\nexample.com/x .. h1:x\n"
	mounts, err := chooseModules(cache, t.TempDir(), []byte(sums))
	if err != nil || len(mounts) != 1 || mounts[0].Source != filepath.Join(cache,
		"github.com/!burnt!sushi/toml@v1.0.0-!r!c1") {
		t.Errorf("%+v, %v", mounts, err)
	}
}
