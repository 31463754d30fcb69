package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/review"
)

// TestPolicyTemplate uncomments the template: everything that it shows is right.
func TestPolicyTemplate(t *testing.T) {
	if p, errs := guide.ParsePolicy(policyTemplate, "template", review.Names()); len(errs) > 0 || p.Threshold != nil {
		t.Errorf("the template sets something, or is wrong: %v %v", p, errs)
	}
	var b strings.Builder
	for line := range strings.Lines(string(policyTemplate)) {
		rest, ok := strings.CutPrefix(line, "# ")
		key, _, _ := strings.Cut(strings.TrimLeft(rest, " -"), ":")
		if ok && (strings.HasPrefix(rest, "  ") || !strings.ContainsAny(key, " .,")) {
			b.WriteString(rest)
		}
	}
	p, errs := guide.ParsePolicy([]byte(b.String()), "template", review.Names())
	if len(errs) > 0 {
		t.Errorf("uncommented, the template is wrong: %v\n%s", errs, b.String())
	}
	if p.Threshold == nil || p.MaxInline == 0 || len(p.Focus) == 0 || len(p.Ignore) == 0 || len(p.Finders) == 0 ||
		len(p.Instructions) == 0 || len(p.Floors) == 0 || p.Language == "" {
		t.Errorf("the template does not show every setting: %+v", p)
	}
}

// TestEngineEnvironment: what a program asked by us may know.
func TestEngineEnvironment(t *testing.T) {
	a := &app{env: environment([]string{
		"PATH=/bin", "MODEL_KEY=1", "GITHUB_TOKEN=1", "GIT_DIR=1", "PRECEDENT_ENGINE=1", "ACTIONS_RUNTIME_TOKEN=1", "=C:=x", "HOME=/h",
	})}
	if got := strings.Join(a.engineEnvironment(), " "); got != "HOME=/h MODEL_KEY=1 PATH=/bin" {
		t.Errorf("the engine gets %q", got)
	}
}

// TestTrustPath: no program of the work tree runs outside of the sandbox.
func TestTrustPath(t *testing.T) {
	sep := string(filepath.ListSeparator)
	top, outside, link := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "link")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(top, "node_modules", ".bin"), 0o700), os.Symlink(top, link),
		os.MkdirAll(filepath.Join(top, ".git", "objects"), 0o700), os.Mkdir(filepath.Join(top, ".git", "refs"), 0o700),
		os.WriteFile(filepath.Join(top, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	} {
		needs.NoError(t, err)
	}
	all := strings.Join([]string{filepath.Join(top, "node_modules", ".bin"), "bin", outside, link, ""}, sep)
	for home, want := range map[string]string{outside: outside, top: strings.Join([]string{filepath.Join(top, "node_modules", ".bin"), outside, link}, sep)} {
		t.Setenv("PATH", all)
		a := &app{env: map[string]string{"PATH": all, "HOME": home}, dir: filepath.Join(top, "node_modules")}
		a.trustPath()
		if a.env["PATH"] != want || os.Getenv("PATH") != want || a.linterPath() != all {
			t.Errorf("PATH is %q, for linters %q; want %q", a.env["PATH"], a.linterPath(), want)
		}
	}
}

// TestGoEnvironment: where Go keeps modules, by its own defaults.
func TestGoEnvironment(t *testing.T) {
	got := (&app{env: map[string]string{"HOME": "/h", "GOPATH": "/g:/other"}}).goEnv()
	if got.ModCache != "/g/pkg/mod" || got.Home != "/h" || got.Tool == "" {
		t.Errorf("%+v", got)
	}
	got = (&app{env: map[string]string{"GOPATH": "/g", "GOMODCACHE": "/m"}}).goEnv()
	if got.ModCache != "/m" {
		t.Errorf("%+v", got)
	}
}

// writeFile writes a file, and makes its folder.
func writeFile(t testing.TB, name, text string, mode os.FileMode) {
	t.Helper()
	needs.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode)))
}
