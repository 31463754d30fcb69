package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/needs"
)

// team is a forge with one locked pull request in each of its repositories: a round opens the mirror and the
// memory, and then has nothing to do. The number of a pull request says which repository it is in.
type team struct {
	repos []precedent.Repo

	mu    sync.Mutex
	heads []int // of the pull request of each repository
	polls int
	reads int
}

func newTeam(size int) *team {
	f := &team{heads: make([]int, size)}
	for i := range size {
		f.repos = append(f.repos, precedent.Repo{Host: shop.Host, Owner: shop.Owner, Name: fmt.Sprintf("r%d", i)})
	}
	return f
}

// pullOf is the pull request of a repository.
func (f *team) pullOf(i int) forge.PullRequest {
	p := openPull(i+1, f.heads[i], "bot-review-needed")
	p.Locked = true
	p.Base.Repo, p.Head.Repo = f.repos[i], f.repos[i]
	return p
}

func (f *team) open(_ context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polls++
	var i int
	if _, err := fmt.Sscanf(repo.Name, "r%d", &i); err != nil {
		return nil, err
	}
	return []forge.PullRequest{f.pullOf(i)}, nil
}

// read fails once in 20 times.
func (f *team) read(number int) (forge.PullRequest, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reads++; f.reads%20 == 0 {
		return forge.PullRequest{}, errors.New("no network")
	}
	return f.pullOf(number - 1), nil
}

// push gives the pull request of a repository a new head.
func (f *team) push(i, head int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heads[i] = head
}

// held is what a process holds that may grow.
type held struct{ goroutines, files, folders int }

// holds waits until nothing runs, and counts.
func holds(t *testing.T, temp string) held {
	t.Helper()
	synctest.Wait()
	h := held{goroutines: runtime.NumGoroutine()}
	if open, err := os.ReadDir("/dev/fd"); err == nil { // not on Windows
		h.files = len(open)
	}
	folders := needs.Value(os.ReadDir(temp))(t)
	h.folders = len(folders)
	return h
}

// TestNoGrowthInADay: "after 24 simulated hours of 2,000 events no growth of goroutines, open files
// or temporary folders": a server with 200 repositories, of whose pushes every second is found by
// the poller and the others are told by a webhook, too.
func TestNoGrowthInADay(t *testing.T) {
	minutes, size := needs.Rounds(24*60, 5), needs.Rounds(200, 12)
	cache, temp := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newTeam(size)
		db := openSQLite(t)
		s := newStage(t, db, func(o *Options) {
			o.Repositories.Listed = f.repos
			o.Connection.Token = func(context.Context, precedent.Repo) (string, error) { return "", nil }
			o.Job.Settings.Precedents.Value = false // there is no forge to read a corpus from
			o.Reviewer.CacheDir, o.Reviewer.Git = cache, git.Options{TempDir: temp}
			o.Sleep = func(ctx context.Context, d time.Duration) error {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(d):
					return nil
				}
			}
		})
		s.forge.open, s.forge.pull = f.open, f.read
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx, nil) }()
		events := max(2000*minutes/(24*60), size)
		pause := time.Duration(minutes) * time.Minute / time.Duration(events)
		var early held
		for n := range events {
			i := n * 7 % size
			f.push(i, n+1)
			if n%2 == 0 {
				body := strings.ReplaceAll(string(pullEvent("synchronize", i+1, sha(n+1))), "acme/shop", "acme/"+f.repos[i].Name)
				if status, result := s.deliver(delivery(ctx, fmt.Sprint("d", n), "pull_request", newSecret,
					[]byte(body))); status != http.StatusAccepted || result != string(hookAccepted) {
					t.Fatal(status, result)
				}
			}
			time.Sleep(pause)
			if n == events/4 {
				early = holds(t, temp)
			}
		}
		time.Sleep(16 * time.Minute) // what failed is tried again, and River removes its rows of what ended
		late := holds(t, temp)
		t.Logf("after %d minutes, %d events and %d polls: %+v, before %+v", minutes, events, f.polls, late, early)
		if late.goroutines > early.goroutines+5 || late.files > early.files+5 || late.folders > 0 {
			t.Errorf("it holds %+v, after a quarter of the time %+v", late, early)
		}
		// Each repository is polled once a minute.
		if all := (minutes + 16) * size; f.polls < all*9/10 || f.polls > all*11/10 {
			t.Errorf("%d polls, want about %d", f.polls, all)
		}
		f.done(t, s)
		if t.Failed() {
			t.Log(s.log.String())
		}
		stop()
		needs.NoError(t, <-ended)
	})
}

// done checks that the last head of each pull request had a round that ended well.
func (f *team) done(t *testing.T, s *stage) {
	t.Helper()
	for i, repo := range f.repos {
		rows := needs.Value(s.o.Reviewer.Shared.RepoFor(t.Context(), repo))(t)
		seen := needs.Value(rows.WatchedPulls(t.Context()))(t)
		if is := seen[i+1]; is.Head != sha(f.heads[i]) || is.Done != is.Head {
			t.Errorf("%s: %+v, want %s", repo, is, sha(f.heads[i]))
		}
	}
}
