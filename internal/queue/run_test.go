package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestNewerHeadCancels: a newer head cancels the running review, also when another replica took the
// event; the same head makes it run once more.
func TestNewerHeadCancels(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		began, release := make(chan string), make(chan struct{})
		var mu sync.Mutex
		var ended []string
		q := started(t, db, Options{Do: func(ctx context.Context, r *Run) error {
			began <- r.Head
			select {
			case <-ctx.Done():
				if cause := context.Cause(ctx); !errors.Is(cause, ErrSuperseded) ||
					!errors.Is(r.Check(context.WithoutCancel(ctx)), ErrSuperseded) {
					t.Errorf("cancelled because of %v", cause)
				}
				return ctx.Err()
			case <-release:
			}
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, r.Head)
			return nil
		}})
		begins := func(want string) {
			t.Helper()
			if head := <-began; head != want {
				t.Fatal(head)
			}
		}
		other := opened(t, db, Options{}) // does not run
		accept(t, q, "1", review(app, 1, "a"))
		begins("a")
		accept(t, other, "2", review(app, 1, "b"))
		begins("b")
		accept(t, q, "3", review(app, 1, "b"), review(app, 1, ""))
		release <- struct{}{}
		begins("b")
		release <- struct{}{}
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
		if !slices.Equal(ended, []string{"b", "b"}) {
			t.Errorf("ended %v", ended)
		}
		if j := only(t, q); j.Attempts != 0 {
			t.Errorf("%+v", j)
		}
	})
}

// TestEndings: what a job returns decides what becomes of it, and people can retry and cancel it.
func TestEndings(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var answer atomic.Pointer[error]
		var runs atomic.Int64
		hang := make(chan struct{}, 1)
		q := started(t, db, Options{
			Random:  func() float64 { return 1 },
			Timeout: map[Kind]time.Duration{Fix: 50 * time.Millisecond}, Do: func(ctx context.Context, r *Run) error {
				runs.Add(1)
				now := *answer.Load()
				if r.Kind != Review {
					hang <- struct{}{}
					<-ctx.Done()
					return ctx.Err()
				}
				return now
			},
		})
		say := func(err error) { answer.Store(&err) }
		is := func(state State, problem string, attempts int) Job {
			t.Helper()
			var j Job
			needs.WaitUntil(t, string(state), func() bool {
				j = jobs(t, q)[0]
				return j.State == state && j.Problem == problem && j.Attempts == attempts
			})
			return j
		}
		say(LaterError{time.Hour, "it waits"})
		accept(t, q, "1", review(app, 1, "a"))
		j := is(Waiting, "", 0)
		if in := j.Due.Sub(j.Since); in < time.Hour-time.Second || j.Reason != "it waits" {
			t.Errorf("due in %s, because %q", in, j.Reason)
		}
		say(errors.New("no network"))
		accept(t, q, "2", review(app, 1, "a")) // an event makes a job that waits on its own run now
		j = is(Waiting, "no network", 1)
		if in := j.Due.Sub(j.Since); in < 9*time.Second { // the two times are of different moments
			t.Errorf("due in %s", in)
		}
		accept(t, q, "3", review(app, 1, "a")) // but not one that failed
		say(fmt.Errorf("wrapped: %w", Never(errors.New("it is gone"))))
		is(Waiting, "no network", 1)
		needs.Value(q.Retry(t.Context(), j.ID))(t)
		is(Dead, "wrapped: it is gone", 1)
		say(nil)
		needs.NoError(t, q.Want(t.Context(), review(app, 1, "a"))) // a sweep does not restart a dead letter
		is(Dead, "wrapped: it is gone", 1)
		needs.Value(q.Retry(t.Context(), j.ID))(t)
		is(Done, "", 0)
		needs.Value(q.Cancel(t.Context(), j.ID))(t)
		is(Done, "", 0) // there is nothing to cancel
		say(LaterError{time.Hour, "it waits"})
		accept(t, q, "4", review(app, 1, "b"))
		is(Waiting, "", 0)
		if got, err := q.Cancel(t.Context(), j.ID); err != nil || got.State != Cancelled {
			t.Fatal(got, err)
		}
		accept(t, q, "5", Task{Kind: Reply, Repo: app, Pull: 1}) // runs until it is cancelled
		<-hang
		running := is(Running, "", 0)
		needs.Value(q.Cancel(t.Context(), running.ID))(t)
		is(Cancelled, "", 0)
		accept(t, q, "6", Task{Kind: Fix, Repo: app, Pull: 1}) // runs into its timeout
		<-hang
		is(Waiting, "context deadline exceeded", 1)
		if runs.Load() != 7 {
			t.Errorf("%d runs", runs.Load())
		}
	})
}

// TestRetryAfter: the time before a retry doubles, up to 15 minutes, and is a random part of that.
func TestRetryAfter(t *testing.T) {
	q := &Queue{o: Options{Random: func() float64 { return 0.5 }}}
	for failures, want := range map[int]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 1000: 450 * time.Second} {
		needs.Equal(t, want, q.retryAfter(failures))
	}
}

func TestAcceptRefuses(t *testing.T) {
	q := opened(t, openAt(t, newFile(t)), Options{})
	long := string(make([]byte, maxName+1))
	for name, bad := range map[string]struct {
		d Delivery
		t Task
	}{
		"kind":            {Delivery{}, Task{Kind: "dance"}},
		"large pull":      {Delivery{}, Task{Kind: Review, Repo: app, Pull: 1 << 40}},
		"no repository":   {Delivery{}, Task{Kind: Review, Pull: 1}},
		"control in head": {Delivery{}, Task{Kind: Review, Repo: app, Pull: 1, Head: "a\x00"}},
		"long id":         {Delivery{Forge: "github", ID: long}, Task{Kind: Sweep}},
		"not UTF-8":       {Delivery{Forge: "github", ID: "\xff"}, Task{Kind: Sweep}},
		"no forge":        {Delivery{ID: "1"}, Task{Kind: Sweep}},
	} {
		if _, err := q.Accept(t.Context(), bad.d, []Task{bad.t}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := q.Accept(t.Context(), Delivery{}, make([]Task, maxTasks+1)); err == nil {
		t.Error("too many tasks are accepted")
	}
	needs.Equal(t, 0, len(jobs(t, q)))
	accept(t, q, "1", Task{Kind: Review, Repo: app, Pull: 7, Reason: "label \x1b[31m"})
	needs.Equal(t, "label <U+001B>[31m", only(t, q).Reason)
}

// TestLostJobs: jobs of River that are lost are made again, and one that waits although an event came when its last
// execution ended runs at once.
func TestLostJobs(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var runs atomic.Int64
		q := opened(t, db, Options{Do: func(context.Context, *Run) error { runs.Add(1); return nil }})
		for i := range 20 {
			accept(t, q, fmt.Sprint(i), review(app, i+1, "a"))
		}
		change(t, db, "DELETE FROM river_job WHERE id <> (SELECT MIN(id) FROM river_job)")
		change(t, db, "UPDATE river_job SET state = 'scheduled', scheduled_at = '2100-01-01 00:00:00.000'")
		needs.NoError(t, q.Start(t.Context()))
		needs.WaitUntil(t, "all ran", func() bool { return runs.Load() == 20 })
	})
}

// TestFair: "p95 wait of a small repository beside a flooding one ≤ 2 × its wait alone". What it asserts does not depend
// on the load of the machine: while a job of the small repository waits, the other one begins few of the jobs that came
// before it.
func TestFair(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		const flood = maxTasks + 1 // more than one transaction takes
		began := make(chan struct{}, 1)
		var floods atomic.Int64
		q := started(t, db, Options{Slots: 4, Poll: 200 * time.Millisecond, Do: func(_ context.Context, r *Run) error {
			if r.Repo == small {
				began <- struct{}{}
				return nil
			}
			floods.Add(1)
			<-time.After(100 * time.Millisecond)
			return nil
		}})
		var tasks []Task
		for i := range flood {
			tasks = append(tasks, review(big, i+1, "a"))
		}
		needs.NoError(t, q.Found(t.Context(), tasks...)) // a delivery gives up after some seconds
		needs.WaitUntil(t, "the flood runs", func() bool { return floods.Load() >= 3 })
		for i := range needs.Rounds(60, 12) {
			before := floods.Load()
			accept(t, q, fmt.Sprint("small", i), review(small, i+1, "a"))
			<-began
			if passed := floods.Load() - before; passed*10 > flood {
				t.Errorf("%d of %d jobs of the flood began while the small repository waited", passed, flood)
			}
		}
		if s, err := q.Stats(t.Context()); err != nil || s.Kinds[Review].Ready == 0 {
			t.Errorf("the flood was over: %+v, %v", s, err)
		}
	})
}

// TestOwnPush: the head that a run pushes does not supersede it, on this or another replica; the next one
// does.
func TestOwnPush(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		began, release := make(chan *Run), make(chan struct{})
		q := started(t, db, Options{Do: func(ctx context.Context, r *Run) error {
			began <- r
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-release:
				return r.Check(ctx)
			}
		}})
		other := opened(t, db, Options{})
		accept(t, q, "1", review(app, 1, "a"))
		run := <-began
		run.Pushing("b")
		accept(t, other, "2", review(app, 1, "b"))
		if err := run.Check(t.Context()); err != nil {
			t.Fatalf("its own push: %v", err)
		}
		needs.NoError(t, q.watch(t.Context()))
		accept(t, other, "3", review(app, 1, "c"))
		if err := run.Check(t.Context()); !errors.Is(err, ErrSuperseded) {
			t.Errorf("another push: %v", err)
		}
		if next := <-began; next.Head != "c" {
			t.Errorf("head %s", next.Head)
		}
		release <- struct{}{}
		needs.WaitUntil(t, "done", func() bool { return only(t, q).State == Done })
	})
}

// TestRestartsDeadLetters: what a poll found and a period that begins restart a dead letter, as a delivery does; what is
// only wanted once more does not.
func TestRestartsDeadLetters(t *testing.T) {
	onSQLite(t, func(t *testing.T, db *store.DB) {
		ran := map[Kind]chan struct{}{Prune: make(chan struct{}, 1000), Reply: make(chan struct{}, 10)}
		q := opened(t, db, Options{Do: func(_ context.Context, r *Run) error {
			ran[r.Kind] <- struct{}{}
			return Never(errors.New("it cannot be done"))
		}})
		q.Every(Prune, 100*time.Millisecond)
		needs.NoError(t, q.Start(t.Context()))
		needs.Equal(t, Prune, only(t, q).Kind) // it does not begin later
		<-ran[Prune]
		<-ran[Prune]
		reply := Task{Kind: Reply, Repo: app, Pull: 1}
		dead := func() bool {
			return slices.ContainsFunc(jobs(t, q), func(j Job) bool { return j.Kind == Reply && j.State == Dead })
		}
		for range 2 {
			needs.NoError(t, q.Found(t.Context(), reply))
			<-ran[Reply]
			needs.WaitUntil(t, "it is dead", dead)
			if err := q.Want(t.Context(), reply); err != nil || !dead() {
				t.Errorf("%v, wanted again: %+v", err, jobs(t, q))
			}
		}
	})
}

// TestOneRound: a review and a fix of one pull request never run at the same time, on any replica; those
// of others do.
func TestOneRound(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		var here, most, runs atomic.Int64
		both := make(chan struct{}, 2) // a fix and a review of two pull requests
		o := Options{Slots: 4, Do: func(ctx context.Context, r *Run) error {
			if r.Pull != 7 {
				both <- struct{}{}
				for len(both) < 2 {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(time.Millisecond):
					}
				}
				return nil
			}
			n := here.Add(1)
			defer here.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				continue
			}
			<-time.After(2 * time.Millisecond)
			runs.Add(1)
			return nil
		}}
		queues := []*Queue{started(t, db, o), started(t, db, o)}
		for i := range 10 {
			accept(t, queues[i%2], fmt.Sprint(i), review(big, 7, fmt.Sprint(i)), Task{Kind: Fix, Repo: big, Pull: 7})
		}
		accept(t, queues[0], "others", Task{Kind: Fix, Repo: big, Pull: 8}, review(big, 9, "a"))
		needs.WaitUntil(t, "all is done", func() bool { return done(t, queues[0], 4) })
		for _, q := range queues {
			stop(t, q)
		}
		if most.Load() != 1 || runs.Load() < 2 {
			t.Errorf("%d at once, %d runs", most.Load(), runs.Load())
		}
	})
}
