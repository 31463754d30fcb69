package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/golden"
	"github.com/precedent-dev/precedent/internal/needs"
)

// TestReleaseIsReproducible builds a small program with the script from two
// copies of the sources in different folders: every byte is the same.
func TestReleaseIsReproducible(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is for a POSIX shell")
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	name := "precedent-" + runtime.GOOS + "-" + runtime.GOARCH
	var sums []string
	for _, dir := range []string{"one", filepath.Join("another", "folder")} {
		dir = filepath.Join(t.TempDir(), dir)
		for _, file := range []string{"go.mod", "go.sum", "scripts/release.sh", "scripts/sbom/main.go"} {
			copyFile(t, filepath.Join("..", "..", file), filepath.Join(dir, file))
		}
		cmd := exec.Command("sh", filepath.Join(dir, "scripts", "release.sh"), platform)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PROGRAM=./scripts/sbom", "BUILDVCS=false", "GOFLAGS=-race", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		text := needs.Value(os.ReadFile(filepath.Join(dir, "dist", "SHA256SUMS")))(t)
		sums = append(sums, string(text))
		checkBuilt(t, filepath.Join(dir, "dist", name))
	}
	if sums[0] != sums[1] {
		t.Errorf("two builds differ:\n%s%s", sums[0], sums[1])
	}
	for _, file := range []string{name, name + ".cdx.json"} {
		if !strings.Contains(sums[0], "  "+file+"\n") {
			t.Errorf("no checksum of %s:\n%s", file, sums[0])
		}
	}
}

// checkBuilt reads how a program was built.
func checkBuilt(t *testing.T, program string) {
	t.Helper()
	var b bytes.Buffer
	needs.NoError(t, run([]string{program}, &b))
	beside, err := os.ReadFile(program + ".cdx.json")
	if err != nil || !bytes.Equal(beside, b.Bytes()) {
		t.Errorf("the bill beside the program is another one: %v", err)
	}
	for _, want := range []string{`"go:build:-trimpath",`, `"go:build:CGO_ENABLED",`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the program was built without %s", want)
		}
	}
	data := needs.Value(os.ReadFile(program))(t)
	if folder := filepath.Dir(filepath.Dir(program)); bytes.Contains(data, []byte(folder)) {
		t.Errorf("the program holds the path %s", folder)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data := needs.Value(os.ReadFile(from))(t)
	needs.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
	needs.NoError(t, os.WriteFile(to, data, fs.FileMode(0o644)))
}

// TestBill: every module is there once, with its version and sum, and every
// reference leads somewhere.
func TestBill(t *testing.T) {
	b := billOf(&debug.BuildInfo{
		GoVersion: "go1.26.1",
		Main:      debug.Module{Path: "example.org/app", Version: "v1.0.0+dirty"},
		Deps: []*debug.Module{
			{Path: "example.org/z", Version: "v1.2.3", Sum: "h1:z="},
			{Path: "example.org/a", Version: "v0.1.0", Replace: &debug.Module{Path: "example.org/fork", Version: "v0.2.0", Sum: "h1:f="}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.time", Value: "2026-01-05T09:00:00Z"}, {Key: "-ldflags", Value: "secret"}},
	})
	var out strings.Builder
	needs.NoError(t, write(&out, b))
	golden.Compare(t, "testdata/bill.golden.json", out.String())
}
