//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
)

// burstSize is how much happens in a burst.
type burstSize struct{ repos, pulls, pushes, kills, restarts int }

// burst is a forge with many pull requests, and servers that review them.
type burst struct {
	t      *testing.T
	size   burstSize
	random *rand.Rand
	began  time.Time // of the forge's time
	home   string
	door   *frontDoor
	pulls  []*burstPull
	names  []string // of the repositories, with the host
	env    []string

	mu       sync.Mutex
	replicas []*burstReplica
	number   int           // of replicas so far
	counting int           // writing requests until a replica is killed
	caught   chan struct{} // is closed when it was; nil if none is to be
	after    bool          // after the request was carried out
	log      lockedBuffer

	accepted, lost, killed atomic.Int64 // webhooks, and replicas
}

// burstPull is a pull request and what is pushed to it.
type burstPull struct {
	*forgetest.Pull
	repo  *forgetest.Repo
	dir   string
	heads []string // in the order in which they are pushed
	flaws []string // of the last head
	at    int      // heads that were pushed
}

// burstReplica is a server.
type burstReplica struct {
	cmd  *exec.Cmd
	done chan struct{}
	at   atomic.Value // its address; nil until it listens
}

func (r *burstReplica) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// burstKey signs the comments.
const burstKey = "a key of tests, which opens nothing"

// newBurst makes a forge with pull requests.
func newBurst(t *testing.T, size burstSize, url string) *burst {
	t.Helper()
	b := &burst{
		t: t, size: size, random: needs.Random(t), began: time.Now(), home: t.TempDir(),
	}
	root := filepath.Join(b.home, "forge")
	b.door = openFrontDoor(t, root)
	host := strings.TrimPrefix(b.door.URL, "http://")
	for n := range size.repos {
		name := fmt.Sprintf("shop%d", n)
		b.names = append(b.names, host+"/octo/"+name)
		repo := &forgetest.Repo{
			ID: int64(n + 1), Owner: "octo", Name: name, Pulls: map[int]*forgetest.Pull{},
			Members: []forgetest.Member{
				{Person: author, Permission: forge.Write}, {Person: forgetest.Bot, Permission: forge.Write},
			},
		}
		b.door.stage.World.Add(repo)
		b.fill(repo, filepath.Join(root, "octo", name+".git"), host, n)
	}
	temp := filepath.Join(b.home, "temp")
	needs.NoError(t, os.Mkdir(temp, 0o700))
	b.env = []string{
		"HOME=" + b.home, "TMPDIR=" + temp, "PATH=" + os.Getenv("PATH"), "GITHUB_API_URL=" + b.door.URL + "/api/v3",
		"GITHUB_TOKEN=" + forgetest.Secret, webhookSecret + "=" + hookSecret, markerKeyVariable + "=" + burstKey,
		"PRECEDENT_CONSOLIDATION=off", "PRECEDENT_FIXES=false", "PRECEDENT_GATES=false",
	}
	if url != "" {
		b.env = append(b.env, databaseVariable+"="+url)
	}
	b.passTime()
	b.relay()
	return b
}

// fill makes a repository with pull requests, all of whose commits are there but not pushed.
func (b *burst) fill(repo *forgetest.Repo, dir, host string, n int) {
	b.t.Helper()
	runGit(b.t, b.home, b.home, "init", "-q", "--bare", "-b", "main", dir)
	var all bytes.Buffer
	mark := 0
	commit := func(ref string, from int, name, text string) int {
		mark++
		const who = "committer dana <dana@example.org>"
		fmt.Fprintf(&all, "commit %s\nmark :%d\n%s %d +0000\ndata 4\npush\n", ref, mark, who, 1767600000+mark)
		if from > 0 {
			fmt.Fprintf(&all, "from :%d\n", from)
		}
		fmt.Fprintf(&all, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
		return mark
	}
	main := commit("refs/heads/main", 0, ".precedent.yaml", "reviews: {on: [open, push]}\n"+oneFinder)
	of := (b.size.pulls + b.size.repos - 1 - n) / b.size.repos
	for i := range of {
		p := &burstPull{repo: repo, dir: dir, Pull: &forgetest.Pull{}}
		number, from := i+1, main
		for k := range b.size.pushes {
			text, has := burstText(k, b.size.pushes)
			p.flaws = has // at the end
			from = commit(fmt.Sprintf("refs/staged/%d/%d", number, k), from, burstFile, text)
		}
		here := precedent.Repo{Host: host, Owner: repo.Owner, Name: repo.Name}
		p.PullRequest = forge.PullRequest{
			Number: number, Title: "Open a shop", Author: author, State: forge.Open,
			Ref:  fmt.Sprintf("refs/pull/%d/head", number),
			Base: forge.Branch{Repo: here, RepoID: precedent.NumberID(repo.ID), Name: "main"},
			Head: forge.Branch{Repo: here, RepoID: precedent.NumberID(repo.ID), Name: fmt.Sprintf("branch%d", number)},
		}
		p.Files = 1
		b.pulls = append(b.pulls, p)
	}
	cmd := exec.Command("git", "--git-dir", dir, "fast-import", "--quiet")
	cmd.Stdin = &all
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%v %s", err, out)
	}
	ids := map[string]string{}
	for line := range strings.Lines(runGit(b.t, b.home, dir, "for-each-ref", "--format=%(refname) %(objectname)")) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		ids[ref] = id
	}
	for _, p := range b.pulls {
		if p.repo == repo {
			p.Base.SHA = ids["refs/heads/main"]
			for k := range b.size.pushes {
				p.heads = append(p.heads, ids[fmt.Sprintf("refs/staged/%d/%d", p.Number, k)])
			}
		}
	}
}

// passTime lets the time of the forge pass until the test ends.
func (b *burst) passTime() {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			b.door.stage.Clock.Pass(burstNow(b.began).Sub(b.door.stage.Clock.Now()))
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	b.t.Cleanup(func() { close(end); <-ended })
}

// relay passes the webhooks of the forge on to any replica. One of ten is lost, and so are those for a replica that does not
// listen.
func (b *burst) relay() {
	transport := &http.Transport{}
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		at, listens := b.replicas[rand.N(len(b.replicas))].at.Load().(string)
		b.mu.Unlock()
		if !listens || rand.N(10) == 0 {
			b.lost.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		(&httputil.ReverseProxy{
			Transport: transport,
			Rewrite:   func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "http", at },
			ModifyResponse: func(r *http.Response) error {
				if b.accepted.Add(1); r.StatusCode >= http.StatusMultipleChoices && r.StatusCode != http.StatusServiceUnavailable {
					b.t.Errorf("a webhook was answered with %d", r.StatusCode)
				}
				return nil
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { b.lost.Add(1); panic(http.ErrAbortHandler) },
		}).ServeHTTP(w, r)
	}))
	hook := b.door.api.Hook(relay.URL+"/webhooks/github", hookSecret, nil)
	b.t.Cleanup(func() { hook.Wait(); relay.Close(); transport.CloseIdleConnections() })
}

// start starts a replica in the place of another one.
func (b *burst) start(i int) {
	b.mu.Lock()
	b.number++
	name := fmt.Sprintf("replica%d", b.number)
	wrong := time.Duration(b.random.IntN(3)-1) * 2 * time.Hour
	b.mu.Unlock()
	r := &burstReplica{done: make(chan struct{})}
	r.cmd = exec.Command("bursting", "serve", "--listen", "127.0.0.1:0", "--repositories", strings.Join(b.names, ","),
		"--interval", "10s")
	r.cmd.Dir = b.home
	r.cmd.Env = append(slices.Clone(b.env), fmt.Sprintf("%s=%d %d", burstClock, b.began.UnixNano(), wrong))
	stderr, err := r.cmd.StderrPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		b.t.Error(err)
		return
	}
	go func() {
		defer close(r.done)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if m := startedAt.FindStringSubmatch(lines.Text()); m != nil {
				r.at.Store(m[1])
			}
			b.log.add(name + " " + lines.Text())
		}
		_ = r.cmd.Wait()
		if r.cmd.ProcessState.ExitCode() == -1 {
			b.killed.Add(1)
		}
		b.log.add(name + " ended: " + r.cmd.ProcessState.String())
	}()
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.replicas) <= i {
		b.replicas = append(b.replicas, nil)
	}
	b.replicas[i] = r
}

// keep starts replicas that ended by themselves again, as a service manager does: those that found
// no database.
func (b *burst) keep() {
	b.mu.Lock()
	all := slices.Clone(b.replicas)
	b.mu.Unlock()
	for i, r := range all {
		if r.ended() {
			b.start(i)
		}
	}
}

// trap kills a replica at the nth writing request from now, before or after it is carried out.
func (b *burst) trap(n int, after bool) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counting, b.after, b.caught = n, after, make(chan struct{})
	return b.caught
}

// spring kills a replica if it is time to.
func (b *burst) spring(after bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.caught == nil || b.after != after {
		return
	}
	if b.counting--; b.counting > 0 {
		return
	}
	_ = b.replicas[b.random.IntN(len(b.replicas))].cmd.Process.Kill()
	close(b.caught)
	b.caught = nil
}

// push pushes the next head of a pull request.
func (b *burst) push(p *burstPull) {
	head := p.heads[p.at]
	runGit(b.t, b.home, p.dir, "update-ref", p.Ref, head)
	runGit(b.t, b.home, p.dir, "update-ref", "refs/heads/"+p.Head.Name, head)
	diff := runGit(b.t, b.home, p.dir, "diff", p.Base.SHA, head)
	if p.at++; p.at == 1 {
		b.door.stage.World.Change(func() { p.Head.SHA, p.Diff, p.Updated = head, diff, b.door.stage.Clock.Now() })
		b.door.stage.World.Open(p.repo, p.Pull, author)
		return
	}
	b.door.stage.World.Push(p.Pull, head, diff)
}

// play pushes everything, and kills replicas meanwhile.
func (b *burst) play(replicas int, restart func(n int)) {
	for _, method := range []string{http.MethodPost, http.MethodPatch} {
		b.door.stage.Script.Plan(forgetest.Fault{
			Method: method, Times: 1 << 30, Call: func() { b.spring(false) }, CallAfter: func() { b.spring(true) },
		})
	}
	for i := range replicas {
		b.start(i)
	}
	var order []*burstPull
	for _, p := range b.pulls {
		order = append(order, slices.Repeat([]*burstPull{p}, b.size.pushes)...)
	}
	b.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for kill := range b.size.kills {
		if restart != nil && kill%max(1, b.size.kills/max(1, b.size.restarts)) == 1 {
			restart(kill)
		}
		for _, p := range order[kill*len(order)/b.size.kills : (kill+1)*len(order)/b.size.kills] {
			b.push(p)
		}
		b.mu.Lock()
		timed, n, after, pause, who := b.random.IntN(3) == 0, 1+b.random.IntN(40), b.random.IntN(2) == 0,
			time.Duration(300+b.random.IntN(2000))*time.Millisecond, b.random.IntN(replicas)
		b.mu.Unlock()
		caught := make(<-chan struct{})
		if !timed {
			caught, pause = b.trap(n, after), 10*time.Second
		}
		select {
		case <-caught:
		case <-time.After(pause):
			b.mu.Lock()
			b.caught = nil
			b.mu.Unlock()
		}
		needs.WaitUntil(b.t, "one is dead", func() bool {
			dead := b.killed.Load() > int64(kill)
			b.keep()
			if !dead { // it had ended by itself
				b.mu.Lock()
				defer b.mu.Unlock()
				_ = b.replicas[who].cmd.Process.Kill()
			}
			return dead
		})
	}
}

// end ends all replicas.
func (b *burst) end() {
	b.t.Helper()
	for _, r := range b.replicas {
		// One that has not said its address may not catch the signal yet.
		needs.WaitUntil(b.t, "a replica listens", func() bool { return r.at.Load() != nil || r.ended() })
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-r.done:
			if status := r.cmd.ProcessState.ExitCode(); status != 0 {
				b.t.Errorf("a replica ended with %d", status)
			}
		case <-time.After(time.Minute):
			_ = r.cmd.Process.Kill()
			b.t.Error("a replica does not end")
		}
	}
}
