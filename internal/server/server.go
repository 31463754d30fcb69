// Package server reviews pull requests as they change: it polls the forge, takes webhooks, and
// runs what they make due as jobs of a queue.
//
// The poller is what finds all work. Webhooks only make it faster: what is lost on the way is
// found by the next poll. A job reads everything from the forge, so that it may run twice, and
// writes through a fence, so that it does not write after another one took its place.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/round"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Options configure a server.
type Options struct {
	Reviewer   *workspace.Env // with the database that all repositories share
	Connection workspace.Connection
	Job        run.Job
	Round      round.Options // without what belongs to one run
	Fixes      bool          // whether pull requests are fixed, too

	Repositories Repositories
	Interval     time.Duration // between two polls; DefaultInterval if it is 0
	// Secrets of webhooks; without any, there are none.
	Secrets []string
	// Token opens metrics and details to those who are not on this machine; empty for nobody.
	Token string
	// Connections is how many connections are open at the same time; 0 for 512.
	Connections int
	Slots       int    // jobs at the same time; 0 for the queue's default
	Replica     string // unique among those that share the database
	// Sandbox says whether there is one, for people.
	Sandbox func() string
	Version string
	// Pages answers what is not of the server itself, and ends its streams when it is closed; nil for no pages.
	Pages interface {
		http.Handler
		Close()
	}
	Log    *slog.Logger
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Random func(n time.Duration) time.Duration
}

// Bounds of a server's end: a service manager kills it 30 seconds after the signal at the
// earliest ("exit within 30 s").
const (
	drainTime = 20 * time.Second
	closeTime = 2 * time.Second
)

// Periods of what is done again and again.
const (
	sweepEvery       = 5 * time.Minute
	syncEvery        = 24 * time.Hour
	consolidateEvery = time.Hour
	pruneEvery       = 24 * time.Hour
)

// Server is a running server.
type Server struct {
	o       Options
	queue   *queue.Queue
	metrics *metrics
	breaker *breaker
	served  *served
	poller  *poller
	hooks   *hooks // nil without secrets
	started time.Time
	edits   chan forge.Event // of comments, for the corpus

	mu     sync.Mutex
	me     forge.Person
	meErr  error
	asked  time.Duration                // when the forge was asked for it
	logged map[hookResult]time.Duration // when one of these was logged last

	readying sync.Mutex
	readyIs  readiness
	readyAt  time.Duration // 0 for never
}

// New opens the queue of the database. Nothing runs before Run or Once.
func New(ctx context.Context, o Options) (*Server, error) {
	if o.Reviewer.Shared == nil {
		return nil, errors.New("open server: it has no database")
	}
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	s := &Server{
		o: o, started: time.Now(), edits: make(chan forge.Event, maxEdits), logged: map[hookResult]time.Duration{},
	}
	elapsed := func() time.Duration { return time.Since(s.started) } // does not jump
	s.breaker = &breaker{elapsed: elapsed, now: o.Now, random: o.Random, until: map[string]time.Duration{}}
	s.served = newServed(o.Repositories, o.Connection.Repositories, o.Now)
	own := secret.NewOwn(o.Connection.Secrets...)
	var err error
	s.queue, err = queue.Open(ctx, o.Reviewer.Shared, queue.Options{
		Replica: o.Replica, Now: o.Now, Log: o.Log, Slots: o.Slots, Timeout: timeouts, Do: s.do,
		Redact: func(reason string) string { return withoutOwn(own, reason) },
	})
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	s.metrics = newMetrics(o.Version, o.Connection.Quota, s.queue.Stats)
	s.poller = &poller{Server: s}
	if len(o.Secrets) > 0 {
		s.hooks = &hooks{Server: s, limit: hookTime, inFlight: make(chan struct{}, maxHooks)}
	}
	return s, nil
}

const (
	pollClaim   = "poller"
	schemaEvery = 30 * time.Second // how often Run looks whether it still knows the schema
)

// takeOver lets this process poll at once if it is the only one, as it is with SQLite: one before it
// may have been killed, and its claim would last for minutes.
func (s *Server) takeOver(ctx context.Context) error {
	if s.o.Reviewer.Shared.Engine() != store.SQLite {
		return nil
	}
	return s.o.Reviewer.Shared.Unclaim(ctx, pollClaim, "")
}

// Run serves on the listener until ctx ends, and then stops: it takes no new work, cancels what
// runs, whose state is saved, and returns within 30 seconds. A nil listener serves nothing.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	s.queue.Every(queue.Sweep, sweepEvery)
	s.queue.Every(queue.CorpusSync, syncEvery)
	s.queue.Every(queue.Consolidate, consolidateEvery)
	s.queue.Every(queue.Prune, pruneEvery)
	if err := s.takeOver(ctx); err != nil {
		return errors.Join(err, s.Close(ctx))
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := s.queue.Start(work); err != nil {
		return fmt.Errorf("start queue: %w", err)
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	var group sync.WaitGroup
	group.Go(func() { s.poller.Run(ctx) })
	group.Go(func() { s.applyEdits(ctx) })
	if s.hooks != nil { // which leave out what we do ourselves
		group.Go(func() { s.learnAccount(ctx) })
	}
	failed := make(chan error, 1)
	web, address := s.web(), ""
	if listener != nil {
		address = listener.Addr().String()
		group.Go(func() { failed <- web.Serve(listener) })
	}
	s.o.Log.Info("the server has started", "address", address, "version", s.o.Version, "replica", s.o.Replica,
		"webhooks", s.hooks != nil)
	var err error
	schema := time.NewTicker(schemaEvery)
	defer schema.Stop()
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
			err = fmt.Errorf("serve: %w", err)
		case <-schema.C: // a newer program may have changed it, and this one would damage what it misreads
			err = s.o.Reviewer.Shared.Outdated(ctx)
		}
	}
	s.o.Log.Info("the server is stopping")
	end() // polls and edits, too
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		polite, cancel := context.WithTimeout(closing, closeTime)
		defer cancel()
		if web.Shutdown(polite) != nil {
			_ = web.Close() // those who wait are told to come again by the broken connection
		}
	}()
	err = errors.Join(err, s.queue.Stop(closing))
	<-closed
	if unclaim := s.o.Reviewer.Shared.Unclaim(closing, pollClaim, s.o.Replica); unclaim != nil {
		s.o.Log.Warn("another replica polls only later", "error", unclaim)
	}
	group.Wait()
	s.o.Log.Info("the server has stopped")
	return err
}

// Close closes a server that was neither run nor asked to work once.
func (s *Server) Close(ctx context.Context) error { return s.queue.Stop(ctx) }

// oncePause is how often Once looks whether the jobs have ended. It waits for those that are due
// within onceAhead, such as the fix that follows a review, at most maxAhead times oncePause in all.
const (
	oncePause = 100 * time.Millisecond
	onceAhead = 5 * time.Second
	maxAhead  = 600
)

// Left is what is left after Once.
type Left struct {
	Waiting int // jobs for later, such as those that wait for CI
	Dead    int // dead letters
	// Unread are looks at repositories, or at the list of them, that failed.
	Unread int
}

// Once polls every repository once, and runs what is due, and what that makes due soon, to its end.
func (s *Server) Once(ctx context.Context) (Left, error) {
	var left Left
	s.queue.Every(queue.Consolidate, consolidateEvery)
	s.queue.Every(queue.Prune, pruneEvery)
	err := s.takeOver(ctx)
	if err == nil {
		s.poller.Round(ctx)
		err = ctx.Err()
	}
	if err == nil {
		err = s.queue.Start(context.WithoutCancel(ctx))
	}
	ahead := 0
	for swept := false; err == nil; {
		var stats queue.Stats
		if stats, err = s.queue.Stats(ctx); err != nil {
			break
		}
		busy := 0
		left = Left{Dead: stats.Dead, Unread: int(s.poller.failures.Load())}
		for _, k := range stats.Kinds {
			busy += k.Ready + k.Running
			left.Waiting += k.Waiting
		}
		if busy == 0 && left.Waiting > 0 && ahead < maxAhead {
			if busy, err = s.dueSoon(ctx); err != nil {
				break
			}
			ahead += min(busy, 1)
		}
		if busy > 0 {
			err = s.o.Sleep(ctx, oncePause)
			continue
		}
		if swept {
			break
		}
		swept, err = true, s.queue.Want(ctx, queue.Task{Kind: queue.Sweep, Reason: "once"})
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	return left, errors.Join(err, s.queue.Stop(closing), s.o.Reviewer.Shared.Unclaim(closing, pollClaim, s.o.Replica))
}

// dueSoon counts the waiting jobs that are due, or are soon. Retries are due only at their time.
func (s *Server) dueSoon(ctx context.Context) (int, error) {
	waiting, err := s.queue.List(ctx, queue.Filter{States: []queue.State{queue.Waiting}, Limit: maxSwept})
	n, now := 0, time.Now() // the queue waits by the machine's clock
	for _, j := range waiting {
		if j.Problem == "" && j.Due.Before(now.Add(onceAhead)) || j.Due.Before(now) {
			n++
		}
	}
	return n, err
}
