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

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/secret"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/text"
)

const (
	// maxProblem limits the reason of a failure, in characters.
	maxProblem = 500
	// maxStack limits what is logged of the stack of a panic, in bytes.
	maxStack = 3000
	// holdPause is how long a job waits whose repository or pull request has to let others go first.
	holdPause = 2 * time.Second
	// supersededPause is how long an entry waits that calls itself superseded while no newer head
	// is known.
	supersededPause = 10 * time.Second
)

// LaterError is the error by which a job says that it wants to run again after a time, which is not an attempt.
type LaterError struct {
	After time.Duration
	Why   string // it waits, for people; an empty one keeps what caused it
}

func (l LaterError) Error() string { return "again in " + l.After.String() + ": " + l.Why }

type neverError struct{ err error }

func (n neverError) Error() string { return n.err.Error() }
func (n neverError) Unwrap() error { return n.err }

// Never is the error by which a job says that retries are useless. It becomes a dead letter.
func Never(err error) error { return neverError{err} }

// serve runs the entry that a job of River does. What it returns tells River what becomes of the job.
func (q *Queue) serve(ctx context.Context, job *river.Job[entry]) error {
	if !q.enter(job) {
		return river.JobSnooze(holdPause)
	}
	defer q.leave(job)
	r, ctx, err := q.claim(ctx, job)
	if r == nil {
		return err
	}
	defer r.cancel(nil)
	defer q.forget(r)
	return q.end(ctx, r, q.run(ctx, r))
}

// enter reports whether another entry of the repository may run here: one slot is for the others.
func (q *Queue) enter(job *river.Job[entry]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inside[job.Args.Repo] >= q.o.Slots-1 {
		return false
	}
	q.inside[job.Args.Repo]++
	q.busy[job.ID] = true
	return true
}

func (q *Queue) leave(job *river.Job[entry]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.busy, job.ID)
	repo := job.Args.Repo
	if q.inside[repo]--; q.inside[repo] == 0 {
		delete(q.inside, repo)
	}
}

// claim begins an execution. Without one, the error is what becomes of the job.
func (q *Queue) claim(ctx context.Context, job *river.Job[entry]) (*Run, context.Context, error) {
	if q.startClaiming(ctx) != nil {
		return nil, nil, river.JobSnooze(holdPause)
	}
	defer q.stopClaiming()
	if !q.mayRun() {
		return nil, nil, river.JobSnooze(holdPause)
	}
	var w store.Work
	var found bool
	err := q.change(ctx, "claim job", func(tx *sql.Tx, now time.Time) (err error) {
		w, found, err = q.db.ClaimWork(ctx, tx, job.ID, q.o.Replica, now)
		return err
	})
	switch {
	case err != nil, found && w.Replica == "":
		return nil, nil, river.JobSnooze(holdPause)
	case !found:
		return nil, nil, river.JobCancel(errors.New("no longer needed"))
	}
	r := &Run{
		Task: Task{Kind: Kind(w.Kind), Pull: w.Pull, Head: w.Head, Reason: w.Reason},
		ID:   w.ID, Attempt: job.Attempt, queue: q, work: w, job: job,
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

// startClaiming waits until no claim is under way, and keeps others from beginning one until stopClaiming. It fails
// if the context ends first.
func (q *Queue) startClaiming(ctx context.Context) error {
	select {
	case q.claiming <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *Queue) stopClaiming() { <-q.claiming }

func (q *Queue) forget(r *Run) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.runs, r.ID)
}

// mayRun reports whether this replica has its lease and does not stop.
func (q *Queue) mayRun() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.stopping && !q.stale()
}

// stale reports whether others may have taken this replica for dead. The caller has the mutex.
func (q *Queue) stale() bool {
	return q.db.Engine() == store.PostgreSQL && time.Since(q.renewed) >= q.o.Lease
}

func (q *Queue) run(ctx context.Context, r *Run) error {
	if err := r.readTask(); err != nil {
		return Never(err)
	}
	about := []any{
		slog.String("kind", string(r.Kind)), slog.String("repo", r.work.Repo), slog.Int("pull", r.Pull),
		slog.Int("attempt", r.Attempt),
		slog.Int64("job", r.ID),
	}
	started := time.Now()
	q.o.Log.Info("job started", about...)
	err := q.do(ctx, r)
	about = append(about, slog.Duration("took", time.Since(started).Round(time.Millisecond)))
	again, isLater := errors.AsType[LaterError](err)
	switch {
	case err == nil:
		q.o.Log.Info("job ended", append(about, slog.String("result", "done"))...)
	case isLater:
		q.o.Log.Info("job ended", append(about, slog.String("result", "later"), slog.Duration("after", again.After),
			slog.String("reason", again.Why))...)
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		q.o.Log.Info("job ended", append(about, slog.String("result", "stopped"),
			slog.String("reason", q.problem(context.Cause(ctx))))...)
	default:
		q.o.Log.Warn("job failed", append(about, slog.String("error", q.problem(err)))...)
	}
	return err
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
			q.o.Log.Error("job panicked", slog.String("kind", string(r.Kind)),
				slog.String("stack", text.Head(string(debug.Stack()), maxStack)))
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if q.o.Do == nil {
		return Never(errors.New("this process runs no jobs"))
	}
	return q.o.Do(ctx, r)
}

type ending struct {
	ended           State // what is saved of it: Done, Dead, or nothing if it runs again
	problem, reason string
	after           time.Duration // until it runs again
	failed          bool          // so that it counts as an attempt
	is              error         // ErrLeaseLost, ErrCancelled and the like, if that ended it
}

// endingOf decides that by the error of its work.
func (q *Queue) endingOf(ctx context.Context, r *Run, err error) ending {
	if err == nil {
		return ending{ended: Done}
	}
	if l, ok := errors.AsType[LaterError](err); ok {
		e := ending{after: max(0, l.After)}
		if l.Why != "" {
			e.reason = q.problem(errors.New(l.Why))
		}
		return e
	}
	if _, ok := errors.AsType[neverError](err); ok {
		return ending{ended: Dead, problem: q.problem(err)}
	}
	for _, why := range []error{context.Cause(ctx), err} {
		if errors.Is(why, ErrSuperseded) {
			return ending{is: ErrSuperseded, after: supersededPause, reason: ErrSuperseded.Error()}
		}
		for _, is := range []error{ErrLeaseLost, ErrCancelled, ErrStopping} {
			if errors.Is(why, is) {
				return ending{is: is}
			}
		}
	}
	e := ending{failed: true, problem: q.problem(err)}
	if r.Attempt >= r.job.MaxAttempts {
		e.ended = Dead
	}
	return e
}

// problem is the reason of a failure, fit to be stored and shown: errors quote what forges, models
// and hostile files say.
func (q *Queue) problem(err error) string {
	s := text.Cut(err.Error(), 4*maxProblem)
	if q.o.Redact != nil {
		s = q.o.Redact(s)
	}
	return text.Cut(text.VisibleLine(secret.RedactText(s)), maxProblem)
}

// endTimeout limits a try to save how a run ended.
const endTimeout = 20 * time.Second

// end saves how a run ended, if it is still the last one of its entry, and returns what becomes of
// River's job. What is done is saved in one transaction with the end of the job; a job whose end
// cannot be saved runs again.
func (q *Queue) end(ctx context.Context, r *Run, err error) error {
	e := q.endingOf(ctx, r, err)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	var now store.Work
	var ours bool
	err = q.change(ctx, "save job", func(tx *sql.Tx, at time.Time) (err error) {
		now, ours, err = q.db.EndWork(ctx, tx, r.work, string(e.ended), e.problem, e.reason, at)
		if err != nil || !ours || e.ended != Done {
			return err
		}
		if err := gone(nil, q.complete(ctx, tx, r.job)); err != nil {
			return err
		}
		return q.issue(ctx, tx, []store.Work{now})
	})
	again := now.Wanted() && now.Generation > r.work.Generation
	switch {
	case err != nil:
		q.o.Log.Error("job will run again: its end cannot be saved", slog.Int64("job", r.ID),
			slog.String("error", q.problem(err)))
		return river.JobSnooze(holdPause)
	case !ours:
		q.o.Log.Warn("job ended without its lease: nothing was saved", slog.String("kind", string(r.Kind)),
			slog.Int64("job", r.ID))
		return unsaved{}
	case !now.Wanted() && e.is != nil:
		return river.JobCancel(ErrCancelled)
	case e.ended == Done:
		return nil
	case again && (!e.failed && e.ended == "" || now.Head != r.Head):
		return river.JobSnooze(0)
	case e.failed:
		return errors.New(e.problem)
	case e.ended == Dead:
		return river.JobCancel(errors.New(e.problem))
	}
	return river.JobSnooze(e.after)
}

func (q *Queue) complete(ctx context.Context, tx *sql.Tx, job *river.Job[entry]) (err error) {
	if q.db.Engine() == store.SQLite {
		_, err = river.JobCompleteTx[*riversqlite.Driver](ctx, tx, job)
	} else {
		_, err = river.JobCompleteTx[*riverdatabasesql.Driver](ctx, tx, job)
	}
	return err
}

// unsaved is the end of a run that is not the last one of its job. It ends none of the jobs, as those
// that River executes in groups may: River would end the job of the run that took its place.
type unsaved struct{}

func (unsaved) Error() string               { return ErrLeaseLost.Error() }
func (unsaved) Jobs() []*rivertype.JobRow   { return nil }
func (unsaved) ErrorsByID() map[int64]error { return nil }

// Check returns ErrLeaseLost, ErrSuperseded or ErrCancelled if the run must not write any more, and
// any error of the database. It is called right before each write.
func (r *Run) Check(ctx context.Context) error {
	all, err := r.queue.db.WorkOfReplica(ctx, r.queue.o.Replica)
	if err != nil {
		return err
	}
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	if i := slices.IndexFunc(all, func(w store.Work) bool { return w.ID == r.ID }); i >= 0 && !r.queue.stale() {
		return r.compare(all[i])
	}
	return ErrLeaseLost
}

// Pushing tells that the run is about to push a commit. The forge then tells of a newer head, which
// does not supersede this run: it has to finish what belongs to the push.
func (r *Run) Pushing(commit string) {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	r.pushed = commit
}

// compare returns why a run must not go on, by its entry as it is now. The caller has the mutex.
func (r *Run) compare(now store.Work) error {
	switch {
	case now.Fence != r.work.Fence:
		return ErrLeaseLost
	case now.Head != r.work.Head && r.work.Head != "" && now.Head != r.pushed:
		return ErrSuperseded
	case !now.Wanted():
		return ErrCancelled
	}
	return nil
}
