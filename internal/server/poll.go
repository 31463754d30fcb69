package server

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
)

// Bounds of the poller.
const (
	// DefaultInterval is the time between two polls of a repository.
	DefaultInterval = time.Minute
	pollsAtOnce     = 4
	jitterShare     = 10 // the interval varies by a tenth, both ways
	// leadTime is how long one of several replicas polls before another may.
	leadTime = 3 * time.Minute
	// maxSkips bounds how many polls a repository is skipped that fails alone.
	maxSkips = 32
	// reserveShare is the share of the quota below which polls are less frequent: the rest is for reviews.
	reserveShare = 10
	slowdown     = 5
	// freeEvery is after how many rounds memory is given back, which takes some 20 ms.
	freeEvery = 2
)

// poller looks at the open pull requests of all repositories, and wants work for what changed. It
// is what finds all work: webhooks only make it faster.
type poller struct {
	*Server
	failures atomic.Int64 // of polls, since the start
	repos    map[precedent.Repo]*watched
}

type watched struct {
	fails int // in a row
	skip  int // polls to leave out
}

// results of a poll; labels of a metric.
const (
	pollUnchanged = "unchanged"
	pollChanged   = "changed"
	pollFailed    = "failed"
	pollSkipped   = "skipped"
)

func (p *poller) Run(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		wait := p.Round(ctx)
		if n%freeEvery == 0 {
			debug.FreeOSMemory() // a server is idle most of the time, and what jobs used is not needed then
		}
		if p.o.Sleep(ctx, wait) != nil {
			return
		}
	}
}

// Round polls every repository once, if this replica leads and the forge may be asked, and
// returns the time until the next round.
func (p *poller) Round(ctx context.Context) time.Duration {
	if wait := p.breaker.Wait(""); wait > 0 {
		return wait
	}
	if err := p.served.Refresh(ctx); err != nil && ctx.Err() == nil { // webhooks and jobs need them on each replica
		p.breaker.Report(err)
		p.failures.Add(1)
		p.o.Log.Warn("the repositories could not be listed", "error", err)
	}
	if leads, err := p.o.Reviewer.Shared.Claim(ctx, pollClaim, p.o.Replica, leadTime); err != nil || !leads {
		if err != nil && ctx.Err() == nil {
			p.failures.Add(1)
			p.o.Log.Error("polling is paused: the database failed", "error", err)
		}
		return p.pause()
	}
	all, before := p.served.All(), p.repos
	p.repos = make(map[precedent.Repo]*watched, len(all))
	for _, repo := range all {
		p.repos[repo] = cmp.Or(before[repo], &watched{})
	}
	next := make(chan precedent.Repo)
	var group sync.WaitGroup
	for range min(pollsAtOnce, len(all)) {
		group.Go(func() {
			for repo := range next {
				if p.breaker.Wait(repo.Owner) > 0 || ctx.Err() != nil {
					p.metrics.Poll(pollSkipped)
					continue
				}
				p.metrics.Poll(p.look(ctx, repo))
			}
		})
	}
	for _, repo := range all {
		next <- repo
	}
	close(next)
	group.Wait()
	return max(p.pause(), p.breaker.Wait(""))
}

// pause is the interval with jitter, longer if little is left of the forge's quota.
func (p *poller) pause() time.Duration {
	wait := p.o.Interval
	if q := p.o.Connection.Quota(); q.Limit > 0 && q.Left < q.Limit/reserveShare {
		wait *= slowdown
	}
	share := wait / jitterShare
	if share <= 0 {
		return wait
	}
	return wait - share + p.o.Random(2*share)
}

// ownFailures are the errors that are about one repository.
var ownFailures = []forge.ErrorKind{forge.KindNotFound, forge.KindClosed, forge.KindTooLarge, forge.KindAnswer}

// look polls a repository, unless it failed lately.
func (p *poller) look(ctx context.Context, repo precedent.Repo) string {
	w := p.repos[repo] // only one poll of it runs at a time
	if w.skip > 0 {
		w.skip--
		return pollSkipped
	}
	changed, err := p.poll(ctx, repo)
	p.breaker.Report(err)
	switch {
	case err == nil:
		w.fails = 0
	case ctx.Err() != nil:
		return pollSkipped
	default:
		w.fails++
		p.failures.Add(1)
		if e, ok := errors.AsType[*forge.Error](err); ok && (slices.Contains(ownFailures, e.Kind) || e.Status == http.StatusForbidden &&
			e.Kind == forge.KindAuth) {
			w.skip = min(1<<min(w.fails-1, 10), maxSkips)
		}
		p.o.Log.Warn("a repository could not be polled", "repo", repo.String(), "error", err, "failures", w.fails)
		return pollFailed
	}
	if changed {
		return pollChanged
	}
	return pollUnchanged
}

// poll compares a repository with how it was last seen. What it finds is wanted first and noted
// then: if it is interrupted in between, the same is wanted again, which changes nothing. If the
// list cannot be read, nothing is noted.
func (p *poller) poll(ctx context.Context, repo precedent.Repo) (changed bool, err error) {
	rows, err := p.o.Reviewer.Shared.RepoFor(ctx, repo)
	if err != nil {
		return false, err
	}
	before, err := rows.WatchedPulls(ctx) // rounds and other replicas change it
	if err != nil {
		return false, err
	}
	asked := time.Now()
	open, err := p.o.Connection.Open(ctx, repo)
	if err != nil {
		return false, err
	}
	now, took := p.o.Connection.Quota().At, time.Since(asked) // the time may be that of a later answer to another worker
	if base, moved := presentName(repo, open); moved {
		if err := p.rename(ctx, repo, base); err != nil {
			return false, err
		}
		repo = base.Repo
		if rows, err = p.o.Reviewer.Shared.RepoFor(ctx, repo); err != nil {
			return false, err
		}
	}
	n := compare(repo, before, open, now, took)
	if len(n.tasks) == 0 {
		return false, nil
	}
	if err := p.queue.Found(ctx, n.tasks...); err != nil {
		return false, err
	}
	return true, rows.SaveWatched(ctx, n.seen, n.gone)
}
