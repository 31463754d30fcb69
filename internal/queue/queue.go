// Package queue keeps the work of a server and runs it: reviews, replies and the rest.
//
// It makes four promises. What Accept took is committed with its work before it returns, and is
// run, whatever is killed later. For one pull request and kind there is one entry of work: events
// coalesce, the newest head wins, and a run for an older head is cancelled. An entry runs on one
// replica at a time: a replica that stalls past its lease is refused by Run.Check and can record
// nothing. And no repository starves another one.
//
// The rows of work in the store say what is wanted. River executes it, on SQLite and PostgreSQL: a
// River job is a ticket that lets a worker run one entry. Which entry that is, is decided when a
// worker is free (decision 56).
package queue

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Kind is what a job does.
type Kind string

// The kinds of jobs.
const (
	Review      Kind = "review"      // review a pull request
	Reply       Kind = "reply"       // answer the comments on a pull request
	Fix         Kind = "fix"         // change a pull request as its threads ask
	CheckCI     Kind = "check-ci"    // look at the checks of a pull request
	Outcomes    Kind = "outcomes"    // learn what became of the findings of a pull request
	CorpusSync  Kind = "corpus-sync" // read new comments of people on a repository
	CatchUp     Kind = "catch-up"    // read what happened while the server was down
	Consolidate Kind = "consolidate" // look for insights in a repository
	Sweep       Kind = "sweep"       // find pull requests whose events were lost
	Prune       Kind = "prune"       // delete what is too old
)

// Kinds are all kinds of jobs.
var Kinds = []Kind{Review, Reply, Fix, CheckCI, Outcomes, CorpusSync, CatchUp, Consolidate, Sweep, Prune}

// Task is work that is wanted. There is one entry for each kind, repository and pull request.
type Task struct {
	Kind   Kind
	Repo   precedent.Repo // zero for work of the server
	Pull   int            // 0 for work of the repository
	Head   string         // the head commit that is wanted; empty if any will do
	Reason string         // what caused it, for people: "push", "label bot-review-needed"
}

// Delivery is an event that a forge sent, or that the poller found.
type Delivery struct {
	Forge string // the forge's name or host: ids are unique within it
	ID    string // empty for finds of the poller
	Event string // the forge's name of the event
	At    time.Time
}

// Errors that a run meets. The cause of its context is one of them when it is cancelled.
var (
	// ErrLeaseLost: this replica stalled for so long that the entry was given to another one.
	ErrLeaseLost = errors.New("the lease of the job is lost")
	// ErrSuperseded: a newer head is wanted. The entry runs again, for that one.
	ErrSuperseded = errors.New("a newer head is wanted")
	// ErrCancelled: a person cancelled the job.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrStopping: this replica is being stopped. The entry runs again after a restart.
	ErrStopping = errors.New("the server is stopping")
)

// Options configure a queue.
type Options struct {
	// Replica names this process among those that share the database; a new name by default. Two
	// that run at the same time must not have the same.
	Replica string
	Now     func() time.Time // time.Now by default; leases do not depend on it
	Log     *slog.Logger     // discards by default
	// Random returns a number in [0, 1) for the jitter of retries; math/rand by default.
	Random func() float64
	// Slots is how many jobs run here at the same time, at least 2; 4 by default. One repository
	// may use all but one, so that there is always one for the others.
	Slots int
	// Timeout limits how long a job of a kind runs; an hour for kinds that it does not have.
	Timeout map[Kind]time.Duration
	// Lease is how long a replica may be silent before others take over its jobs; 15 s by default.
	// They notice within 4/3 of it.
	Lease time.Duration
	// Poll is how often a replica looks for work; 200 ms by default, at most 1 s.
	Poll time.Duration
	// MaxAttempts is how often a job fails before it becomes a dead letter; 8 by default.
	MaxAttempts int
	// Keep is how long finished entries are kept; a week by default. Dead letters and deliveries
	// are kept for 30 days.
	Keep time.Duration
	// Do does the work. Nil means that it is done, Later and Never say what they say, and another
	// error that it is retried later. A panic is an error.
	Do func(ctx context.Context, r *Run) error
}

// Run is one execution of an entry of work. Its context is cancelled when a newer head is wanted,
// the lease is lost, a person cancels it, or the replica stops.
type Run struct {
	Task
	ID          int64 // of the entry
	Attempt     int   // 1 for the first
	MaxAttempts int
	// Fence grows with each execution of the entry, on any replica.
	Fence int64

	queue *Queue
	// generation is what the entry wanted when this execution began.
	generation int64
	cancel     context.CancelCauseFunc
}

// Queue is the work of an installation, as one replica sees it. It is safe for concurrent use.
type Queue struct {
	db      *store.DB
	options Options
}

// later and never are the errors by which a job says what becomes of it.
type later struct{ after time.Duration }

func (l later) Error() string { return "again in " + l.after.String() }

type never struct{ err error }

func (n never) Error() string { return n.err.Error() }
func (n never) Unwrap() error { return n.err }

// Later is the error by which a job says that it wants to run again after d. It is not an attempt.
func Later(d time.Duration) error { return later{d} }

// Never is the error by which a job says that retries are useless. It becomes a dead letter.
func Never(err error) error { return never{err} }

// Open opens the queue of a database and creates its tables there. It runs nothing before Start.
func Open(ctx context.Context, db *store.DB, o Options) (*Queue, error) {
	return &Queue{db: db, options: o}, errors.ErrUnsupported
}

// Accept saves a delivery and the work that it causes, and returns when both are on disk. Calls at
// the same time share a transaction; one that fails does not fail the others. It returns false,
// and changes nothing, for a delivery that was accepted before.
func (q *Queue) Accept(ctx context.Context, d Delivery, tasks []Task) (bool, error) {
	return false, errors.ErrUnsupported
}

// Want saves work that no delivery caused. It does not restart a dead letter for the same head.
func (q *Queue) Want(ctx context.Context, tasks ...Task) error { return errors.ErrUnsupported }

// Every wants the kind, for the server, once an interval over all replicas, from Start on.
func (q *Queue) Every(kind Kind, interval time.Duration) {}

// Start begins to run jobs, until Stop.
func (q *Queue) Start(ctx context.Context) error { return errors.ErrUnsupported }

// Stop takes no new jobs, cancels the running ones and waits until they have ended, or the context
// is over. All of them run again after a restart. It also closes a queue that was not started.
func (q *Queue) Stop(ctx context.Context) error { return errors.ErrUnsupported }

// Check returns ErrLeaseLost, ErrSuperseded or ErrCancelled if the run must not write any more, and
// any error of the database. It is called right before each write.
func (r *Run) Check(ctx context.Context) error { return errors.ErrUnsupported }

// State is what an entry of work is doing.
type State string

// The states of an entry.
const (
	Ready     State = "ready"     // runs when a worker is free
	Waiting   State = "waiting"   // until it is due: a retry, or a job that said Later
	Running   State = "running"   // on a replica
	Done      State = "done"      // nothing more is wanted
	Dead      State = "dead"      // a dead letter: retries are over
	Cancelled State = "cancelled" // by a person
)

// Job is an entry of work as people see it.
type Job struct {
	Task
	ID       int64
	State    State
	Attempts int       // failures since the last success or new head
	Problem  string    // of the last failure, redacted; empty for none
	Replica  string    // where it runs
	WantedAt time.Time // since when it waits, or waited
	Since    time.Time // of the state
	Due      time.Time // when a waiting one runs again
}

// Filter selects entries; the zero value selects all.
type Filter struct {
	States []State
	Kind   Kind
	Repo   precedent.Repo
	Limit  int // 100 by default
}

// ErrUnknown: there is no entry with the id.
var ErrUnknown = errors.New("there is no such job")

// List returns the entries, those that changed last first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Job, error) { return nil, errors.ErrUnsupported }

// Show returns an entry, or ErrUnknown.
func (q *Queue) Show(ctx context.Context, id int64) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// Retry makes an entry run now, with all attempts: a dead letter, a cancelled or done one, or one
// that waits.
func (q *Queue) Retry(ctx context.Context, id int64) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// Cancel ends an entry that waits or runs. It runs again when it is wanted again.
func (q *Queue) Cancel(ctx context.Context, id int64) (Job, error) {
	return Job{}, errors.ErrUnsupported
}

// KindStats are numbers of entries of a kind.
type KindStats struct {
	Ready, Waiting, Running, Dead int
	// Oldest is how long the ready entry that waits longest has waited.
	Oldest time.Duration
}

// Stats are numbers of entries, of all replicas.
type Stats struct {
	Kinds map[Kind]KindStats
	// Dead is the number of all dead letters.
	Dead int
}

// Stats counts the entries.
func (q *Queue) Stats(ctx context.Context) (Stats, error) { return Stats{}, errors.ErrUnsupported }
