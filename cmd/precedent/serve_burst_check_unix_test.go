//go:build unix

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/comment"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
)

// marked is a comment of ours with its marker.
type marked struct {
	forge.Comment
	comment.Marker
}

// ours are our comments on a pull request that the key signed.
func (b *burst) ours(p *burstPull) []marked {
	key := needs.Value(comment.NewKey(burstKey))(b.t)
	about := comment.PullRequest{Repo: p.Base.Repo, RepoID: p.Base.RepoID, Number: p.Number}
	w := comment.Writer{Key: key, PullRequest: about}
	var all []marked
	for _, c := range b.door.stage.World.By(p.Pull, forgetest.Bot) {
		if m, ok := w.Read(string(c.Body)); ok {
			all = append(all, marked{c, m})
		} else if strings.TrimSpace(string(c.Body)) != "" {
			b.t.Errorf("%s#%d: a comment without a marker: %s", p.repo.Name, p.Number, c.Body)
		}
	}
	return all
}

// pending says what is not done yet; empty for nothing.
func (b *burst) pending(q *queue.Queue) string {
	for _, p := range b.pulls {
		newest := p.heads[len(p.heads)-1]
		if !slices.ContainsFunc(b.ours(p), func(m marked) bool {
			return m.Marker.Kind == comment.Summary && m.Head == newest && m.Run == ""
		}) {
			return fmt.Sprintf("%s#%d has no summary about %s, or that names its run", p.repo.Name, p.Number, newest)
		}
	}
	all, err := q.List(b.t.Context(), queue.Filter{Limit: 100_000})
	if err != nil {
		return err.Error()
	}
	for _, j := range all {
		if j.State != queue.Done {
			return fmt.Sprintf("job %+v", j)
		}
	}
	return ""
}

// retry retries, as a person does, the jobs that ran in too many of the processes that were killed.
func (b *burst) retry(q *queue.Queue) {
	b.t.Helper()
	dead, err := q.List(b.t.Context(), queue.Filter{States: []queue.State{queue.Dead}})
	for _, j := range dead {
		if !strings.Contains(j.Problem, "the process that ran it died, too often") {
			b.t.Fatalf("job %+v", j)
		}
		b.t.Logf("retried %s", j.Name())
		_, err = q.Retry(b.t.Context(), j.ID)
	}
	if err != nil {
		b.t.Logf("retry: %v", err) // the next time
	}
}

// quiet waits until everything is done.
func (b *burst) quiet(q *queue.Queue, limit time.Duration) {
	b.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; <-tick.C {
		b.keep()
		b.retry(q)
		why := b.pending(q)
		if why == "" {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("not done after %s: %s", limit, why)
		}
	}
}

// check looks at a pull request when all is done.
func (b *burst) check(db *store.DB, p *burstPull) {
	b.t.Helper()
	name, newest := fmt.Sprintf("%s#%d", p.repo.Name, p.Number), p.heads[len(p.heads)-1]
	once, said := map[string]int{}, map[string]bool{}
	for _, m := range b.ours(p) {
		key := fmt.Sprintf("%s of %s in thread %s", m.Marker.Kind, m.Marker.Review, m.Thread)
		switch m.Marker.Kind {
		case comment.Summary:
			key = "summary"
		case comment.Finding:
			key = "finding " + m.Fingerprint
			said[flawIn(m.Title)] = true
		}
		once[key]++
		once[fmt.Sprint(m.Comment.Kind, m.ReplyTo, m.Span, string(m.Body))]++
	}
	for what, n := range once {
		if n != 1 {
			b.t.Errorf("%s: posted %d times: %s", name, n, what)
		}
	}
	if once["summary"] == 0 {
		b.t.Errorf("%s: no summary", name)
	}
	for _, flaw := range p.flaws {
		if !said[flaw] {
			b.t.Errorf("%s: no remark about %s: %v", name, flaw, said)
		}
	}
	if n := b.door.stage.World.Unsent(p.Pull); n > 0 {
		b.t.Errorf("%s: %d reviews that were not sent", name, n)
	}
	rows := needs.Value(db.RepoFor(b.t.Context(), p.Base.Repo))(b.t)
	posts := needs.Value(rows.Posts(b.t.Context(), p.Number))(b.t)
	for _, q := range posts {
		if !q.State.Done() {
			b.t.Errorf("%s: a post is not done: %+v", name, q)
		}
	}
	heads := map[string]int{}
	for r, err := range rows.ReviewsSince(b.t.Context(), time.Time{}, 100_000) {
		needs.NoError(b.t, err)
		if r.PullRequest != nil && *r.PullRequest == p.Number {
			heads[r.Head]++
			if r.Head == newest && r.Verdict != precedent.Findings {
				b.t.Errorf("%s: the review of the newest head is %s", name, r.Verdict)
			}
		}
	}
	for head, n := range heads {
		if n != 1 {
			b.t.Errorf("%s: %s was reviewed %d times", name, head, n)
		}
	}
	if heads[newest] != 1 {
		b.t.Errorf("%s: the newest head %s was reviewed %d times", name, newest, heads[newest])
	}
}

// TestServeBurst: "500 pull-request events in a burst on two replicas with PostgreSQL, and on one
// with SQLite; replicas killed 60 times, database restarted, clock jumped: each newest head reviewed
// and posted exactly once, nothing lost", with real processes, webhooks over HTTP and git.
func TestServeBurst(t *testing.T) {
	size := burstSize{repos: 2, pulls: 5, pushes: 8, kills: 4, restarts: 1}
	if needs.Soaking() {
		size = burstSize{repos: 5, pulls: 50, pushes: 10, kills: 60, restarts: 3}
	}
	test := func(t *testing.T, url string, server *needs.Server) {
		b := newBurst(t, size, url)
		t.Cleanup(func() {
			if said := b.log.String(); t.Failed() {
				t.Logf("the end of the logs:\n%s", said[max(0, len(said)-20_000):])
			}
		})
		replicas, restart := 1, func(int) {}
		if server != nil {
			replicas, restart = 2, func(n int) { server.Restart(t, n%2 == 0) }
		}
		b.play(replicas, restart)
		db, q, end := openServer(t, b.home, url)
		t.Cleanup(end)
		b.quiet(q, 10*time.Minute)
		took := time.Since(b.began)
		b.end()
		reviews := 0
		for _, p := range b.pulls {
			b.check(db, p)
			reviews += len(b.door.stage.World.Reviews(p.Pull))
		}
		if left, err := filepath.Glob(filepath.Join(b.home, "temp", "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("temporary folders of processes that were killed are left: %q, %v", left, err)
		}
		t.Logf("%d pushes to %d pull requests, %d kills, %d webhooks accepted, %d lost; %d reviews with remarks posted; %s",
			size.pulls*size.pushes, size.pulls, b.killed.Load(), b.accepted.Load(), b.lost.Load(), reviews, took.Round(time.Second))
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, "", nil)
	})
	t.Run("postgresql", func(t *testing.T) {
		t.Parallel()
		needs.Soak(t, "waits until the leases of replicas that were killed are over")
		server := needs.PostgreSQLServer(t, true)
		test(t, server.Database(t), server)
	})
}
