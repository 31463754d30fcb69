//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// served is a process of precedent serve whose forge cannot be reached, so that only webhooks make
// work.
type served struct {
	t    testing.TB
	cmd  *exec.Cmd
	at   string // its address
	log  lockedBuffer
	done chan error
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.WriteString(line + "\n")
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

var startedAt = regexp.MustCompile(`msg="the server has started" address=(\S+)`)

// startServed starts a program as a server, and waits until it listens. The environment takes precedence.
func startServed(t testing.TB, program, home string, env []string, args ...string) *served {
	t.Helper()
	s := &served{t: t, done: make(chan error, 1)}
	s.cmd = exec.Command(program, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--repositories", "127.0.0.1:9/octo/app", "--engine", "none",
	}, args...)...)
	s.cmd.Dir = home
	s.cmd.Env = append([]string{
		"HOME=" + home, "TMPDIR=" + home, "PATH=" + os.Getenv("PATH"), "GITHUB_API_URL=http://127.0.0.1:9/api/v3",
		"GITHUB_TOKEN=" + forgetest.Secret, webhookSecret + "=" + hookSecret,
	}, env...)
	stderr, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	needs.NoError(t, err)
	address := make(chan string, 1)
	go func() {
		defer close(address)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			s.log.add(lines.Text())
			if m := startedAt.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		s.done <- s.cmd.Wait()
	}()
	at, ok := <-address
	if !ok {
		t.Fatalf("the server did not start\n%s", s.log.String())
	}
	s.at = at
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	return s
}

// signal ends the server, and returns its exit status, -1 if it was killed.
func (s *served) signal(sig os.Signal) int {
	s.t.Helper()
	_ = s.cmd.Process.Signal(sig) // it may have ended
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Fatalf("the server does not end\n%s", s.log.String())
	}
	return s.cmd.ProcessState.ExitCode()
}

// post delivers an event of a pull request, and returns the status and the answer; 0 without one.
func (s *served) post(ctx context.Context, client *http.Client, id string, pull int) (int, string) {
	body := fmt.Appendf(nil, `{"action":"opened","number":%[1]d,"pull_request":{"number":%[1]d,"state":"open","head":{"sha":"%040[1]x"}},
		"repository":{"id":1,"full_name":"octo/app","html_url":"http://127.0.0.1:9/octo/app"},"sender":{"id":7,"login":"ann"}}`, pull)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.at+"/webhooks/github", bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "pull_request")
	r.Header.Set("X-GitHub-Delivery", id)
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, strings.TrimSpace(string(answer))
}

// TestFault61Descriptors: with 64 descriptors, connections that are too many are sent away with
// 503, and afterwards the server works as before (fault row 61).
func TestFault61Descriptors(t *testing.T) {
	t.Parallel()
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own); err != nil {
		t.Skip("there is no limit of descriptors here")
	}
	home := t.TempDir()
	shell := filepath.Join(home, "precedent-limited")
	program := needs.Value(exec.LookPath("precedent"))(t)
	needs.WriteProgram(t, shell, "#!/bin/sh\nulimit -n 64\nexec '"+program+"' \"$@\"\n")
	s := startServed(t, shell, home, nil)
	var open []net.Conn
	for range 100 {
		c := needs.Value((&net.Dialer{}).DialContext(t.Context(), "tcp", s.at))(t)
		open = append(open, c)
	}
	sent := 0
	for _, c := range open[64:] { // more than there can be, so that each is answered
		if said, _ := io.ReadAll(c); strings.HasPrefix(string(said), "HTTP/1.1 503") { // it may be reset
			sent++
		}
	}
	if sent == 0 {
		t.Errorf("nobody was sent away\n%s", s.log.String())
	}
	for _, c := range open {
		c.Close()
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	needs.WaitUntil(t, "it recovers", func() bool {
		status, _ := s.post(t.Context(), client, "after", 1)
		return status == http.StatusAccepted
	})
	if status := s.signal(syscall.SIGTERM); status != 0 {
		t.Errorf("status %d\n%s", status, s.log.String())
	}
}

// TestServeRefuses: what a server cannot start with is said before it does anything.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	s := newPRStage(t)
	env := s.app.env
	for _, test := range []struct {
		env  pairs
		want string
	}{
		{pairs{"GH_TOKEN": ""}, "a server needs a token"},
		{pairs{databaseVariable: "mysql://x"}, "postgres"},
		{pairs{"GITHUB_TOKEN_FILE": s.home + "/none"}, "GITHUB_TOKEN_FILE"},
		{pairs{"PRECEDENT_LISTEN": "256.0.0.1:1"}, "listen"},
		{pairs{oauthID: "an-application"}, "PRECEDENT_DASHBOARD_URL"},
	} {
		s.app.env = maps.Clone(env)
		maps.Copy(s.app.env, test.env)
		status, said := s.run("serve", "--engine", "none")
		if status != precedent.ExitUsage || !strings.Contains(said, test.want) || strings.Contains(said, s.home+"/none") {
			t.Errorf("%v: status %d\n%s", test.env, status, said)
		}
	}
}

// TestServePages: a server has pages if somebody can sign in, and else none; and it ends in time while a browser
// follows them. Neither its log nor what it answers to everybody has a secret.
func TestServePages(t *testing.T) {
	t.Parallel()
	plain := startServed(t, "precedent", t.TempDir(), nil)
	status, page := fetched(t, http.DefaultClient, http.MethodGet, "http://"+plain.at+"/signin", nil)
	if status != http.StatusNotFound {
		t.Errorf("without a way to sign in: %d %s", status, page)
	}
	plain.signal(syscall.SIGTERM)

	token, own := strings.Repeat("reader", 4), "a token for looking at metrics"
	s := startServed(t, "precedent", t.TempDir(), []string{readerToken + "=" + token, serverToken + "=" + own}, "--debug")
	if status, answer := s.post(t.Context(), http.DefaultClient, "d1", 1); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, answer)
	}
	for _, path := range []string{"/metrics", "/readyz", "/healthz"} {
		_, text := fetched(t, http.DefaultClient, http.MethodGet, "http://"+s.at+path, nil)
		if text == "" {
			t.Errorf("%s is empty", path)
		}
		s.log.add(text)
	}
	jar := needs.Value(cookiejar.New(nil))(t)
	browser := &http.Client{Jar: jar}
	status, page = fetched(t, browser, http.MethodPost, "http://"+s.at+"/signin", url.Values{"token": {token}})
	if status != http.StatusOK || !strings.Contains(page, "Sign out") {
		t.Fatal(status, page)
	}
	live, err := browser.Get("http://" + s.at + "/live")
	needs.NoError(t, err)
	defer live.Body.Close()
	if _, err := bufio.NewReader(live.Body).ReadString('\n'); err != nil {
		t.Error(err)
	}
	if status := s.signal(syscall.SIGTERM); status != precedent.ExitClean {
		t.Errorf("the server ended with %d: %s", status, s.log.String())
	}
	for _, secret := range []string{token, own, forgetest.Secret, hookSecret} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("a secret is in\n%s", s.log.String())
		}
	}
}
