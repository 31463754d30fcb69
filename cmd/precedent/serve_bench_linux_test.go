package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// idleTime is how long BenchmarkIdleServer measures.
const idleTime = time.Minute

// BenchmarkIdleServer measures a server with 200 repositories of 20 open pull requests each, in
// which nothing happens: requests a repository, processor time and memory over a minute after the
// first poll and the jobs that it made.
func BenchmarkIdleServer(b *testing.B) {
	const repositories, pulls = 200, 20
	var lists, unchanged, others atomic.Int64
	forge := httptest.NewServer(nil)
	defer forge.Close()
	host := strings.TrimPrefix(forge.URL, "http://")
	forge.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/api/v3/"), "/")
		switch {
		case r.URL.Path == "/api/v3/user":
			fmt.Fprint(w, `{"id":500,"login":"precedent-bot","type":"User"}`)
		case len(parts) == 4 && parts[3] == "pulls":
			lists.Add(1)
			w.Header().Set("ETag", `"same"`)
			if r.Header.Get("If-None-Match") == `"same"` {
				unchanged.Add(1)
				w.WriteHeader(http.StatusNotModified)
				return
			}
			var all []string
			for n := range pulls {
				side := fmt.Sprintf(`{"ref":"main","sha":"%040x","repo":{"id":1,"full_name":"%s/%s","name":"%[3]s","owner":{"login":"%[2]s"},"description":%[4]q}}`, n, parts[1], parts[2], strings.Repeat("What GitHub says about a repository. ", 100))
				all = append(all, fmt.Sprintf(`{"number":%d,"state":"open","title":"A change","user":{"id":7,"login":"ann"},"updated_at":"2026-03-04T05:06:07Z","head":%s,"base":%[2]s,"body":%q}`, n+1, side, strings.Repeat("What people write. ", 50)))
			}
			fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
		default:
			others.Add(1)
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"Not Found"}`)
		}
	})
	var names []string
	for i := range repositories {
		names = append(names, fmt.Sprintf("%s/octo/r%d", host, i))
	}
	for range b.N {
		s := startServed(b, b.TempDir(), []string{"GITHUB_API_URL=" + forge.URL + "/api/v3"}, "--repositories", strings.Join(names, ","), "--quiet=false")
		for quiet := 0; quiet < 5; { // the jobs of the first poll find no pull request, and end
			before := others.Load()
			<-time.After(time.Second)
			if quiet++; others.Load() != before || lists.Load() < repositories {
				quiet = 0
			}
		}
		before, listed, kept := processorTime(b, s.cmd.Process.Pid), lists.Load(), unchanged.Load()
		<-time.After(idleTime)
		spent := processorTime(b, s.cmd.Process.Pid) - before
		b.ReportMetric(100*spent.Seconds()/idleTime.Seconds(), "%core")
		b.ReportMetric(float64(lists.Load()-listed)/repositories, "lists/repo")
		b.ReportMetric(float64(unchanged.Load()-kept)/repositories, "304/repo")
		b.ReportMetric(residentMiB(b, s.cmd.Process.Pid, "VmRSS"), "MiB")
		b.ReportMetric(residentMiB(b, s.cmd.Process.Pid, "RssAnon"), "MiB-anonymous")
		b.ReportMetric(residentMiB(b, s.cmd.Process.Pid, "VmHWM"), "MiB-most")
		if status := s.signal(syscall.SIGTERM); status != 0 {
			b.Errorf("status %d", status)
		}
	}
}

// processorTime is what a process has used so far.
func processorTime(t testing.TB, pid int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text)[strings.LastIndex(string(text), ")")+1:])
	ticks := 0
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second on Linux
		n, err := strconv.Atoi(f)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func residentMiB(t testing.TB, pid int, what string) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, what+":"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	t.Fatalf("the system does not tell %s", what)
	return 0
}
