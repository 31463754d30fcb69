//go:build unix

package git

import (
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"
)

// noisy adds a commit to the pull request whose pack has about 200 KB.
func (p *pulls) noisy() {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 150<<10)
	for i := range noise {
		noise[i] = byte('!' + rnd.IntN(90))
	}
	p.origin.git("checkout", "-q", "--detach", p.pull.Head)
	p.pull.Head = p.origin.commit("more from the fork", "a.txt", "one\ntwo\n", "noise.txt", string(noise))
	p.origin.git("update-ref", "refs/pull/7/head", p.pull.Head)
	p.origin.git("checkout", "-q", "main")
}

// leftovers are the files that an interrupted fetch could leave in a mirror.
func leftovers(t *testing.T, folder string) []string {
	t.Helper()
	var left []string
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if base := filepath.Base(name); err == nil && !d.IsDir() &&
			(strings.HasPrefix(base, "tmp_") || strings.HasPrefix(base, "incoming-") || base == "shallow.lock") {
			left = append(left, name)
		}
		return err
	})
	needs.NoError(t, err)
	return left
}

// fetchTwice fetches with a fault, then without it, and expects that nothing of the first fetch is used or left.
func (p *pulls) fetchTwice(t *testing.T, faulty Options) {
	t.Helper()
	folder := scratch(t)
	faulty.TempDir = scratch(t)
	m := needs.Value(OpenMirror(t.Context(), folder, "repo", faulty))(t)
	if rg, err := m.FetchPull(t.Context(), p.pull); err == nil {
		t.Fatalf("the fault had no effect: %+v", rg)
	}
	m.Close()
	m = openMirror(t, folder)
	rg := needs.Value(m.FetchPull(t.Context(), p.pull))(t)
	b := blobs(t, m.Repo)
	needs.Len(t, "Read", 150<<10)(b.Read(rg.Head, "noise.txt", 1<<20))
	if left := leftovers(t, folder); len(left) > 0 {
		t.Errorf("the failed fetch left %q", left)
	}
}

// TestFault17FetchDrops: a fetch whose connection breaks in the middle of the pack fails, and the
// next one gets everything.
func TestFault17FetchDrops(t *testing.T) {
	p := newPulls(t)
	p.noisy()
	whole := p.server.Config.Handler
	var dropped atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/git-upload-pack") || dropped.Load() {
			whole.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		whole.ServeHTTP(answer, r)
		if answer.Body.Len() < 50<<10 { // the negotiation before the pack
			w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		dropped.Store(true)
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	}))
	defer proxy.Close()
	p.pull.URL = strings.Replace(p.pull.URL, p.server.URL, proxy.URL, 1)
	p.fetchTwice(t, Options{})
	if !dropped.Load() {
		t.Error("no pack was cut")
	}
}

// TestFault19DiskFull: a fetch that cannot write its pack fails, and works when there is space.
func TestFault19DiskFull(t *testing.T) {
	p := newPulls(t)
	p.noisy()
	program := needs.Value(exec.LookPath("git"))(t)
	small := filepath.Join(scratch(t), "small-git")
	needs.WriteProgram(t, small, "#!/bin/sh\nulimit -f 40\nexec '"+program+"' \"$@\"\n") // blocks of 512 bytes
	p.fetchTwice(t, Options{Exec: small})
}
