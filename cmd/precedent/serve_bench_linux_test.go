package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
)

// idleRepositories is the number of repositories of an idle server that is measured.
const idleRepositories = 200

// idleForge is a forge with idleRepositories repositories in which nothing happens. The pull
// request of each can be listed and not read.
type idleForge struct{ lists, others atomic.Int64 }

func (f *idleForge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v3/"), "/")
	switch {
	case r.URL.Path == "/api/v3/user":
		fmt.Fprint(w, `{"id":500,"login":"precedent-bot","type":"User"}`)
	case len(parts) == 4 && parts[3] == "pulls":
		defer f.lists.Add(1)
		w.Header().Set("ETag", `"same"`)
		if r.Header.Get("If-None-Match") == `"same"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		about := strings.Repeat("What GitHub says about a repository. ", 100)
		side := fmt.Sprintf(`{"ref":"main","sha":"%040x","repo":{"id":1,"full_name":"%s/%s","name":"%[3]s",`+
			`"owner":{"login":"%[2]s"},"description":%[4]q}}`, 0, parts[1], parts[2], about)
		body := strings.Repeat("What people write. ", 50)
		fmt.Fprintf(w, `[{"number":1,"state":"open","title":"A change","user":{"id":7,"login":"ann"},`+
			`"updated_at":"2026-03-04T05:06:07Z","head":%s,"base":%[1]s,"body":%q}]`, side, body)
	default:
		f.others.Add(1)
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"Not Found"}`)
	}
}

// released builds the program as make build does.
func released(t testing.TB) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "precedent")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// TestIdleMemory: "≤ 64 MiB with 200 repositories", after the first poll and the jobs that it made.
func TestIdleMemory(t *testing.T) {
	needs.Soak(t, "waits until a server is idle")
	const most = 64
	f := &idleForge{}
	program := released(t)
	at := httptest.NewServer(f)
	t.Cleanup(at.Close)
	var names []string
	for i := range idleRepositories {
		names = append(names, fmt.Sprintf("%s/octo/r%d", strings.TrimPrefix(at.URL, "http://"), i))
	}
	s := startServed(t, program, t.TempDir(), []string{"GITHUB_API_URL=" + at.URL + "/api/v3"},
		"--repositories", strings.Join(names, ","), "--quiet=false")
	pid := s.cmd.Process.Pid
	asked := func() bool { return f.lists.Load() >= idleRepositories && f.others.Load() >= idleRepositories }
	is := 0.0
	// Memory is given back at every other poll.
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); <-time.After(100 * time.Millisecond) {
		if is = residentMiB(t, pid); asked() && is <= most {
			break
		}
	}
	if !asked() {
		t.Errorf("%d repositories were polled, %d requests made by jobs", f.lists.Load(), f.others.Load())
	}
	if is > most {
		t.Errorf("%.1f MiB are resident, want at most %d", is, most)
	}
	if status := s.signal(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d\n%s", status, s.log.String())
	}
}

func residentMiB(t testing.TB, pid int) float64 {
	t.Helper()
	for line := range strings.Lines(read(t, fmt.Sprintf("/proc/%d/status", pid))) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib := needs.Value(strconv.Atoi(strings.Fields(rest)[0]))(t)
			return float64(kib) / 1024
		}
	}
	t.Fatal("the system does not tell it")
	return 0
}
