package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/backoff"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// firstRetry and maxRetry bound the time before a retry. It doubles with each failure, and is
	// a random part of that.
	firstRetry = 10 * time.Second
	maxRetry   = 15 * time.Minute
	// maxProblem limits the reason of a failure, in characters.
	maxProblem = 500
	// maxStack limits what is logged of the stack of a panic, in bytes.
	maxStack = 3000
	// supersededPause is how long an entry waits that calls itself superseded while no newer head
	// is known.
	supersededPause = 10 * time.Second
)

// laterError and neverError are the errors by which a job says what becomes of it.
type laterError struct {
	after time.Duration
	why   string
}

func (l laterError) Error() string { return "again in " + l.after.String() + ": " + l.why }

type neverError struct{ err error }

func (n neverError) Error() string { return n.err.Error() }
func (n neverError) Unwrap() error { return n.err }

// Later is the error by which a job says that it wants to run again after d, and why it waits, for
// people; an empty why keeps what caused it. It is not an attempt.
func Later(d time.Duration, why string) error { return laterError{d, why} }

// Never is the error by which a job says that retries are useless. It becomes a dead letter.
func Never(err error) error { return neverError{err} }

// serve runs the entry that is next, if there is one.
func (q *Queue) serve(ctx context.Context, ticket int64) error {
	r, ctx, err := q.claim(ctx, ticket)
	if err != nil || r == nil {
		return err
	}
	defer r.cancel(nil)
	end := q.run(ctx, r)
	q.end(context.WithoutCancel(ctx), r, end)
	return nil
}

// claim takes the entry that is next. It returns nil if there is none, or if this replica must not
// take one.
func (q *Queue) claim(ctx context.Context, ticket int64) (*Run, context.Context, error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if !q.mayRun() {
		return nil, nil, nil
	}
	var w store.Work
	var found bool
	err := q.db.Transact(ctx, "claim job", func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		if w, found, err = q.db.ClaimWork(ctx, tx, q.o.Replica, ticket, q.share(), now); err != nil {
			return err
		}
		return q.issueTickets(ctx, tx)
	})
	if err != nil || !found {
		return nil, nil, err
	}
	r := &Run{
		Task: Task{Kind: Kind(w.Kind), Pull: w.Pull, Head: w.Head, Reason: w.Reason},
		ID:   w.ID, Attempt: 1 + w.Attempts + w.Crashes, MaxAttempts: q.o.MaxAttempts, Fence: w.Fence, queue: q, work: w,
	}
	ctx, r.cancel = context.WithCancelCause(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.runs[r.ID] = r
	if q.stopping {
		r.cancel(ErrStopping)
	}
	return r, ctx, nil
}

// mayRun tells whether this replica has its lease and does not stop.
func (q *Queue) mayRun() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.stopping && time.Since(q.renewed) < q.o.Lease
}

// run does the work of an entry, and returns how it ended.
func (q *Queue) run(ctx context.Context, r *Run) store.WorkEnd {
	if err := r.readTask(); err != nil {
		return q.ending(ctx, r, Never(err))
	}
	limit, ok := q.o.Timeout[r.Kind]
	if !ok {
		limit = defaultTimeout
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	started := time.Now()
	q.o.Log.Info("job started", slog.String("kind", string(r.Kind)), slog.String("repo", r.work.Repo), slog.Int("pull", r.Pull), slog.Int("attempt", r.Attempt), slog.Int64("job", r.ID))
	err := q.do(timed, r)
	end := q.ending(ctx, r, err)
	level, words := slog.LevelInfo, "job ended"
	about := []slog.Attr{
		slog.String("kind", string(r.Kind)), slog.String("repo", r.work.Repo), slog.Int("pull", r.Pull), slog.Int("attempt", r.Attempt), slog.Int64("job", r.ID),
		slog.Duration("took", time.Since(started).Round(time.Millisecond)),
	}
	if end.Failed {
		level, words = slog.LevelWarn, "job failed"
		about = append(about, slog.String("error", end.Problem))
	} else {
		about = append(about, slog.String("result", end.State))
		if end.State == store.WorkWaiting {
			about = append(about, slog.Duration("after", end.After), slog.String("reason", end.Reason))
		}
	}
	q.o.Log.LogAttrs(ctx, level, words, about...)
	return end
}

// readTask reads what only a row that this program did not write can have wrong.
func (r *Run) readTask() error {
	if !slices.Contains(Kinds, r.Kind) {
		return fmt.Errorf("this version of precedent has no jobs of the kind %q", r.Kind)
	}
	if r.work.Repo == "" {
		return nil
	}
	repo, err := precedent.ParseRepo(r.work.Repo)
	r.Repo = repo
	return err
}

// do calls Do, and makes a panic an error.
func (q *Queue) do(ctx context.Context, r *Run) (err error) {
	defer func() {
		if v := recover(); v != nil {
			q.o.Log.Error("job panicked", slog.String("kind", string(r.Kind)), slog.String("stack", text.Head(string(debug.Stack()), maxStack)))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if q.o.Do == nil {
		return Never(errors.New("this process runs no jobs"))
	}
	return q.o.Do(ctx, r)
}

// ending decides what becomes of an entry whose work returned err.
func (q *Queue) ending(ctx context.Context, r *Run, err error) store.WorkEnd {
	if err == nil {
		return store.WorkEnd{State: store.WorkDone}
	}
	if l, ok := errors.AsType[laterError](err); ok {
		end := store.WorkEnd{State: store.WorkWaiting, After: max(0, l.after)}
		if l.why != "" {
			end.Reason = q.problem(errors.New(l.why))
		}
		return end
	}
	if _, ok := errors.AsType[neverError](err); ok {
		return store.WorkEnd{State: store.WorkDead, Failed: true, Problem: q.problem(err)}
	}
	for _, why := range []error{context.Cause(ctx), err} {
		switch {
		case errors.Is(why, ErrSuperseded):
			return store.WorkEnd{State: store.WorkWaiting, After: supersededPause, Reason: why.Error()}
		case errors.Is(why, ErrLeaseLost), errors.Is(why, ErrCancelled), errors.Is(why, ErrStopping):
			return store.WorkEnd{State: store.WorkReady}
		}
	}
	return store.WorkEnd{State: store.WorkWaiting, Failed: true, Most: q.o.MaxAttempts, After: q.retryAfter(r.work.Attempts), Problem: q.problem(err)}
}

// retryAfter is how long to wait after the failures so far and one more, with full jitter.
func (q *Queue) retryAfter(failures int) time.Duration {
	longest := backoff.Policy{First: firstRetry, Max: maxRetry}.Bound(failures + 1)
	return time.Duration(q.o.Random() * float64(longest))
}

// problem is the reason of a failure, fit to be stored and shown: errors quote what forges, models
// and hostile files say.
func (q *Queue) problem(err error) string {
	s := text.Cut(err.Error(), 4*maxProblem)
	if q.o.Redact != nil {
		s = q.o.Redact(s)
	}
	s, _ = secret.Redact("", s)
	return text.Cut(text.VisibleLine(s), maxProblem)
}

const (
	// endTimeout limits one try to save how a run ended, and endTries their number. After the last
	// one the entry runs again.
	endTimeout = 20 * time.Second
	endTries   = 30
	endPause   = time.Second
)

// end saves how a run ended. A run that lost its lease changes nothing.
func (q *Queue) end(ctx context.Context, r *Run, end store.WorkEnd) {
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		delete(q.runs, r.ID)
	}()
	for try := 1; ; try++ {
		ours, err := q.saveEnd(ctx, r, end)
		if err == nil {
			switch {
			case !ours:
				q.o.Log.Warn("job ended without its lease: nothing was saved", slog.String("kind", string(r.Kind)), slog.Int64("job", r.ID))
			case end.State == store.WorkWaiting && end.After < sweepPolls*q.o.Poll:
				time.AfterFunc(end.After+wakeMargin, q.wakeNow)
			}
			return
		}
		if try == endTries || q.isStopping() && try > 2 {
			q.o.Log.Error("job will run again: its end cannot be saved", slog.Int64("job", r.ID), slog.String("error", q.problem(err)))
			return
		}
		<-time.After(endPause)
	}
}

// wakeMargin is how long after its time a sweep finds an entry due, whose time is in milliseconds.
const wakeMargin = 5 * time.Millisecond

// wakeNow looks for entries that are due before the next poll does.
func (q *Queue) wakeNow() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue) isStopping() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopping
}

func (q *Queue) saveEnd(ctx context.Context, r *Run, end store.WorkEnd) (ours bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	err = q.db.Transact(ctx, "save job", func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		if ours, err = q.db.EndWork(ctx, tx, r.work, end, now); err != nil {
			return err
		}
		return q.issueTickets(ctx, tx)
	})
	return ours, err
}

// Check returns ErrLeaseLost, ErrSuperseded or ErrCancelled if the run must not write any more, and
// any error of the database. It is called right before each write.
func (r *Run) Check(ctx context.Context) error {
	all, err := r.queue.db.ListWork(ctx, store.WorkFilter{ID: r.ID, Limit: 1})
	if err != nil {
		return err
	}
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	stale := time.Since(r.queue.renewed) >= r.queue.o.Lease
	if stale || len(all) == 0 {
		return ErrLeaseLost
	}
	return r.compare(all[0])
}

// Pushing tells that the run is about to push a commit. The forge then tells of a newer head, which
// does not supersede this run: it has to finish what belongs to the push.
func (r *Run) Pushing(commit string) {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.pushed = commit
}

// compare tells whether a run may go on, by its entry as it is now. The
// caller has the queue's mutex.
func (r *Run) compare(now store.Work) error {
	switch {
	case now.State != store.WorkRunning || now.Replica != r.work.Replica || now.Fence != r.work.Fence:
		return ErrLeaseLost
	case now.Head != r.work.Head && r.work.Head != "" && now.Head != r.pushed:
		return ErrSuperseded
	case now.Cancelled > 0 && now.Cancelled >= now.Generation:
		return ErrCancelled
	}
	return nil
}
