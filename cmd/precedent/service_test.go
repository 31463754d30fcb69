package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// breaksSandbox are settings of a systemd unit with which the sandbox cannot be made: each was tried
// with the system calls or mounts that systemd forbids or makes for it.
var breaksSandbox = []string{
	"RestrictNamespaces", "PrivateUsers", "SystemCallFilter", "RootDirectory", // no namespaces, or no mounts in them
	"ProtectHostname",                                                         // sethostname is forbidden
	"ProtectKernelLogs", "ProtectKernelTunables", "ProtectProc", "ProcSubset", // a /proc that is covered in part forbids a new one
}

// TestServiceUnit: the unit is valid, and leaves the sandbox working.
func TestServiceUnit(t *testing.T) {
	text := read(t, filepath.Join("..", "..", "contrib", "systemd", "precedent.service"))
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && slices.Contains(breaksSandbox, name) {
			t.Errorf("%s=%s breaks the sandbox", name, value)
		}
	}
	t.Run("systemd", func(t *testing.T) {
		program := needs.Command(t, "PRECEDENT_TEST_SYSTEMD", "systemd-analyze")
		unit := filepath.Join(t.TempDir(), "precedent.service")
		self := needs.Value(os.Executable())(t)
		text := strings.Replace(text, "/usr/local/bin/precedent serve", self, 1) // which is installed
		writeFile(t, unit, text, 0o600)
		said, err := exec.CommandContext(t.Context(), program, "--man=no", "verify", unit).CombinedOutput()
		if about := regexp.MustCompile(`(?m)^.*precedent\.service.*$`).FindAllString(string(said), -1); err != nil || len(about) > 0 {
			t.Errorf("%v\n%s", err, said)
		}
	})
}

// TestPasswordOf: the password of a database is found, however it is written, so that it is replaced
// in logs.
func TestPasswordOf(t *testing.T) {
	for address, want := range map[string][]string{
		"postgres://precedent@db.example/precedent":                          nil,
		"postgres://db.example:5432/precedent":                               nil,
		"postgres://precedent:hunter2hunter2@db.example/precedent":           {"hunter2hunter2"},
		"postgres://precedent:hunter%402%2F@db.example/precedent?a=b":        {"hunter%402%2F", "hunter@2/"},
		"postgres://precedent:hunter2@one.example:1,two.example:2/precedent": {"hunter2"},
		"postgres://db.example/precedent?user=precedent&password=hunter%202": {"hunter 2"},
	} {
		if got := passwordOf(address); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// TestOnlyServer: a gate asks the operator's servers for packages, the usual ones, or none, and never without
// encryption.
func TestOnlyServer(t *testing.T) {
	for value, want := range map[string]string{
		"": "https://usual.example", "https://own.example/npm/": "https://own.example/npm/",
		"sparse+https://own.example/": "https://own.example/",
		"off":                         "", "http://own.example": "", "file:///packages": "",
	} {
		a := &app{env: map[string]string{"PIP_INDEX_URL": value}}
		if got := a.onlyServer("PIP_INDEX_URL", "https://usual.example"); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
	visited := false
	plain := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
	defer plain.Close()
	from := httptest.NewServer(http.RedirectHandler(plain.URL, http.StatusFound))
	defer from.Close()
	request := needs.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, from.URL, nil))(t)
	response, err := (&app{env: map[string]string{}}).packageClient().Do(request)
	needs.NoError(t, err)
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound || visited {
		t.Errorf("status %d, visited %v", response.StatusCode, visited)
	}
}
