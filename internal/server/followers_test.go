package server

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/queue"
)

// serveAll makes a server serve what its token may write to.
func serveAll(replica string) func(*Options) {
	return func(o *Options) { o.Replica, o.Repositories = replica, Repositories{All: true} }
}

// TestReplicaThatDoesNotPoll: a replica that does not poll knows which repositories are served, too:
// it takes their webhooks, and its sweep looks at them.
func TestReplicaThatDoesNotPoll(t *testing.T) {
	db := openSQLite(t)
	list := func(context.Context, string) ([]precedent.Repo, error) { return []precedent.Repo{shop}, nil }
	none := func(context.Context, precedent.Repo) ([]forge.PullRequest, error) { return nil, nil }
	first, second := newStage(t, db, serveAll("first")), newStage(t, db, serveAll("second"))
	for _, s := range []*stage{first, second} {
		s.forge.repositories, s.forge.open = list, none
		s.poller.Round(t.Context())
	}
	if status, got := second.open(t, "1", newSecret); status != http.StatusAccepted || got != "accepted" {
		t.Errorf("%d %s", status, got)
	}
}

// TestJobsWaitForRepositories: a daily sync that begins before anybody knows what is served is not
// over with nothing done. If the list cannot be read, it comes again, and that does not count as a failure.
func TestJobsWaitForRepositories(t *testing.T) {
	s := newStage(t, openSQLite(t), serveAll("one"))
	fail := true
	s.forge.repositories = func(context.Context, string) ([]precedent.Repo, error) {
		if fail {
			return nil, &forge.Error{Kind: forge.KindServer, Status: http.StatusBadGateway}
		}
		return []precedent.Repo{shop}, nil
	}
	sync := &queue.Run{Task: queue.Task{Kind: queue.CorpusSync}}
	for _, kind := range []queue.Kind{queue.CorpusSync, queue.Consolidate, queue.Sweep} {
		sync.Kind = kind
		if err := s.do(t.Context(), sync); err == nil || !strings.HasPrefix(err.Error(), "again in ") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	fail = false
	sync.Kind = queue.CorpusSync
	needs.NoError(t, s.do(t.Context(), sync))
	if all := s.jobs(t); len(all) != 1 || all[0].Kind != queue.CorpusSync || all[0].Repo != shop {
		t.Errorf("jobs: %+v", all)
	}
}

// TestOwnerWhoIsGone: an owner that no longer exists keeps nobody from knowing what is served, and
// the others are not listed every minute.
func TestOwnerWhoIsGone(t *testing.T) {
	for kind, status := range map[forge.ErrorKind]int{forge.KindNotFound: http.StatusNotFound, forge.KindTooLarge: 0} {
		asked := 0
		s := newServed(Repositories{Owners: []string{"gone", "acme"}},
			func(_ context.Context, owner string) ([]precedent.Repo, error) {
				asked++
				if owner == "gone" {
					return nil, &forge.Error{Kind: kind, Status: status}
				}
				return []precedent.Repo{shop}, nil
			}, time.Now)
		if err := s.Refresh(t.Context()); err == nil {
			t.Errorf("%s: nobody is told", kind)
		}
		if _, is, known := s.Find(precedent.Repo{Host: shop.Host, Owner: "other", Name: "app"}); is || !known {
			t.Errorf("%s: it is not known what is served", kind)
		}
		if err := s.Refresh(t.Context()); err != nil || asked != 2 {
			t.Errorf("%s: %v, listed %d times", kind, err, asked)
		}
		s.due, s.whole = time.Time{}, false
		needs.Len(t, string(kind), 1)(s.Known(t.Context()))
	}
}

// TestTooManyConnections: one that is sent away may have been a delivery: it is counted, and leaves room when closed.
func TestTooManyConnections(t *testing.T) {
	s := newStage(t, openSQLite(t), func(o *Options) { o.Connections = 1 })
	note := s.limit()
	note(nil, http.StateNew)
	here, there := net.Pipe()
	var sent sync.WaitGroup
	sent.Go(func() { note(there, http.StateNew) })
	said := needs.Value(io.ReadAll(here))(t)
	sent.Wait()
	if !strings.HasPrefix(string(said), "HTTP/1.1 503 ") || !strings.Contains(s.get(t, "/metrics", nil).Body.String(),
		`precedent_webhooks_total{result="overload"} 1`) {
		t.Errorf("said %q", said)
	}
	note(there, http.StateClosed)
	note(nil, http.StateClosed)
	note(nil, http.StateNew) // is not sent away
}

// TestPollsAfterAKill: with SQLite, a server polls at once, also if the one before it was killed.
func TestPollsAfterAKill(t *testing.T) {
	p := newPollStage(t)
	p.poller.Round(t.Context()) // and it is killed
	next := newStage(t, p.db, func(o *Options) { o.Replica, o.Now = "next", func() time.Time { return p.time } })
	asked := 0
	next.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) { asked++; return nil, nil }
	needs.NoError(t, next.takeOver(t.Context()))
	next.poller.Round(t.Context())
	needs.Equal(t, 1, asked)
}
