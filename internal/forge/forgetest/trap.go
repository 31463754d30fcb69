package forgetest

import (
	"context"
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

// Trap kills processes that speak to a server of the stage, at a request that the
// test chooses. They live by the stage's clock.
type Trap struct {
	stage *Stage
	clock string // address at which the time passes

	mu    sync.Mutex
	cmd   *exec.Cmd
	at    int  // the request at which the process is killed; 0 for none
	after bool // once it was carried out, else instead
	came  int  // requests since the trap was set
}

// Trap puts one up, for all requests of the stage. Lists lag behind by so much.
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

// Set chooses the request, counted from 1 and from now on, at which the process is
// killed: before it is carried out, or after it. 0 is none.
func (p *Trap) Set(at int, after bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.after, p.came = at, after, 0
}

// caught tells whether the request is the one to kill at.
func (p *Trap) caught(after bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !after {
		p.came++
	}
	return p.came == p.at && p.after == after
}

// kill kills the process, if there is one.
func (p *Trap) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
}

// Run runs a process to its end, which comes after the limit at the latest if
// there is one. The error is the command's.
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

// Watch is what the process is told of the time: for NewWatch.
func (p *Trap) Watch() string {
	return fmt.Sprintf("%s %d", p.clock, p.stage.Clock.Now().UnixMilli())
}

// NewWatch is the clock of a process that waits by asking its parent to let the
// stage's time pass. told is the parent's Watch.
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

// natural are what differs from one run to the next.
var natural = []struct {
	form *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`sig=[0-9a-f]+`), "SIGNATURE"},
	{regexp.MustCompile(`127\.0\.0\.1:[0-9]+`), "HOST"},
	{regexp.MustCompile(`[0-9]{9,}`), "NUMBER"},
}

// WithoutVolatile is a text without what differs by nature from one run to the next:
// what a killed process leaves is compared with what another one did.
func WithoutVolatile(s string) string {
	for _, n := range natural {
		s = n.form.ReplaceAllString(s, n.name)
	}
	return s
}
