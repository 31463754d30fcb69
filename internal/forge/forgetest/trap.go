package forgetest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Trap kills processes that use a server of the stage at a request chosen by the
// test. They run by the stage's clock.
type Trap struct {
	stage *Stage
	clock string // address that advances the time

	mu    sync.Mutex
	cmd   *exec.Cmd
	at    int  // request at which the process is killed; 0 for none
	after bool // after the request is carried out, else before
	came  int  // requests since the trap was set
}

// Trap installs a trap for all requests of the stage. Lists lag behind by lag.
func (s *Stage) Trap(t testing.TB, lag time.Duration) *Trap {
	t.Helper()
	p := &Trap{stage: s}
	s.Script.Plan(Fault{
		Times: 1 << 30, LagFor: lag,
		Call: func() {
			if p.caught(false) {
				p.kill()
				panic(http.ErrAbortHandler) // the request never arrived
			}
		},
		CallAfter: func() {
			if p.caught(true) {
				p.kill()
			}
		},
	})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := strconv.ParseInt(r.URL.RawQuery, 10, 64)
		s.Clock.Pass(time.Duration(n))
	}))
	t.Cleanup(server.Close)
	p.clock = server.URL
	return p
}

// Set chooses the request, counted from 1, at which the process is killed: before or
// after it is carried out. 0 is none.
func (p *Trap) Set(at int, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.after, p.came = at, after, 0
}

// caught reports whether to kill the process at this request.
func (p *Trap) caught(after bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !after {
		p.came++
	}
	return p.came == p.at && p.after == after
}

func (p *Trap) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
}

// Run runs a process until it ends, or at most until the limit if there is one. It
// returns the error of the command.
func (p *Trap) Run(cmd *exec.Cmd, limit time.Duration) error {
	p.mu.Lock()
	err := cmd.Start()
	p.cmd = cmd
	if err != nil {
		p.cmd = nil
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	if limit > 0 {
		// It may come late, and must not meet the next process then.
		defer time.AfterFunc(limit, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err = cmd.Wait()
	p.mu.Lock()
	p.cmd = nil
	p.mu.Unlock()
	return err
}

// Watch returns the argument of NewWatch for the process.
func (p *Trap) Watch() string {
	return fmt.Sprintf("%s %d", p.clock, p.stage.Clock.Now().UnixMilli())
}

// NewWatch returns the clock of a process that waits by asking its parent to advance
// the stage's time. told is the parent's Watch.
func NewWatch(told string) (now func() time.Time, sleep func(context.Context, time.Duration) error, err error) {
	address, start, _ := strings.Cut(told, " ")
	began, err := strconv.ParseInt(start, 10, 64)
	if err != nil {
		return nil, nil, fmt.Errorf("read time: %w", err)
	}
	var mu sync.Mutex
	at := time.UnixMilli(began)
	now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	}
	sleep = func(ctx context.Context, d time.Duration) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"?"+strconv.FormatInt(int64(d), 10), nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(d)
		return resp.Body.Close()
	}
	return now, sleep, nil
}

// natural matches what differs from run to run.
var natural = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "HOST"},
	{regexp.MustCompile(`[0-9]{9,}`), "NUMBER"},
}

// marked matches the marker of a comment.
var marked = regexp.MustCompile(`precedent:1 [A-Za-z0-9+/]+(?: [A-Za-z0-9+/]+)? --`)

// ReadableMarkers replaces the markers of comments with their fields.
func ReadableMarkers(s string) string {
	return marked.ReplaceAllStringFunc(s, func(line string) string {
		fields, _ := base64.RawStdEncoding.DecodeString(strings.Fields(line)[1])
		return string(fields)
	})
}

// WithoutVolatile removes from a text what differs from run to run, so that the
// result of a killed process can be compared with that of another one.
func WithoutVolatile(s string) string {
	s = ReadableMarkers(s)
	for _, n := range natural {
		s = n.form.ReplaceAllString(s, n.name)
	}
	return s
}
