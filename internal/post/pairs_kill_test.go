package post

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// hourglass is the time of several processes: it passes when all of them wait.
type hourglass struct {
	clock *forgetest.Clock
	mu    sync.Mutex
	alive int
	wakes map[chan struct{}]time.Time
}

// ServeHTTP lets a process wait for as many nanoseconds as the query says.
func (h *hourglass) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	n, _ := strconv.ParseInt(r.URL.RawQuery, 10, 64)
	woken := make(chan struct{})
	h.change(func() { h.wakes[woken] = h.clock.Now().Add(time.Duration(n)) })
	select {
	case <-woken:
	case <-r.Context().Done(): // it was killed
		h.change(func() { delete(h.wakes, woken) })
	}
}

// change wakes the process that waits for the nearest time if all wait.
func (h *hourglass) change(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
	if h.alive == 0 || len(h.wakes) < h.alive {
		return
	}
	var next chan struct{}
	for c, at := range h.wakes {
		if next == nil || at.Before(h.wakes[next]) {
			next = c
		}
	}
	h.clock.Pass(max(0, h.wakes[next].Sub(h.clock.Now())))
	delete(h.wakes, next)
	close(next)
}

// killer kills processes at a request.
type killer struct {
	mu    sync.Mutex
	cmds  []*exec.Cmd
	after int // requests until then
}

func (k *killer) count() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.after--; k.after == 0 && len(k.cmds) > 0 {
		_ = k.cmds[0].Process.Kill() // it may have ended
		k.cmds = k.cmds[1:]
	}
}

// TestPairsOfProcesses starts two processes at the same time that post reviews of one head, and
// kills one of them, or both, with SIGKILL. In the end each remark is there once, and one
// summary; a third process starts only if both were killed.
func TestPairsOfProcesses(t *testing.T) {
	random := needs.Random(t)
	for _, kind := range []string{"", "gitea 1.27", "gitea 1.25"} {
		for round := range needs.Rounds(30, 2) {
			p := newPair(t, kind, false, round%2 == 0, random)
			for i := range p.runs {
				p.plans(i)
			}
			h := &hourglass{clock: p.Clock, wakes: map[chan struct{}]time.Time{}}
			server := httptest.NewServer(h)
			k := &killer{after: 1 + random.IntN(60)}
			count := forgetest.Fault{Times: 1 << 30, LagFor: time.Duration(random.IntN(6)) * time.Second, CallAfter: k.count}
			if random.IntN(2) == 0 {
				count.Call, count.CallAfter = k.count, nil
			}
			p.Script.Plan(count)
			killed := startAll(t, p, h, k, server.URL, p.files)
			if killed > 1 && random.IntN(2) == 0 {
				p.Clock.Pass(claimFor)
			}
			if killed > 1 && startAll(t, p, h, &killer{}, server.URL, p.files[:1]) > 0 {
				t.Fatal("nobody killed the third process")
			}
			server.Close()
			got := p.seen()
			want := seen{Reviews: got.Reviews, Threads: 8, Places: 8, Summaries: 1, Replies: got.Replies, Checks: got.Checks}
			if got != want || got.Replies > 2 {
				t.Errorf("%s, round %d, %d killed: on the pull request: %+v, want %+v", kind, round, killed, got, want)
			}
		}
	}
}

// startAll runs a process for each memory, and counts those that were killed.
func startAll(t *testing.T, p *pair, h *hourglass, k *killer, clock string, files []string) int {
	t.Helper()
	watch := clock + " " + strconv.FormatInt(p.Clock.Now().UnixMilli(), 10)
	var cmds []*exec.Cmd
	h.change(func() { h.alive = len(files) })
	k.mu.Lock()
	for _, file := range files {
		cmd := exec.Command(needs.Self(t))
		cmd.Env = append(os.Environ(), strings.Join([]string{childVar + "=" + p.url, file, watch}, " "))
		cmd.Stderr = new(bytes.Buffer)
		needs.NoError(t, cmd.Start())
		cmds = append(cmds, cmd)
	}
	k.cmds = append(k.cmds, cmds...)
	after := k.after
	k.mu.Unlock()
	if len(cmds) > 1 && after%3 == 0 {
		defer time.AfterFunc(time.Duration(after*5)*time.Millisecond, func() { _ = cmds[1].Process.Kill() }).Stop()
	}
	killed := 0
	var ended sync.WaitGroup
	for _, cmd := range cmds {
		ended.Go(func() {
			err := cmd.Wait()
			h.change(func() {
				h.alive--
				if cmd.ProcessState.ExitCode() == -1 {
					killed++
				} else if err != nil {
					t.Errorf("%v: %s", err, cmd.Stderr)
				}
			})
		})
	}
	ended.Wait()
	return killed
}
