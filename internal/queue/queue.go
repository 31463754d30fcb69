// Package queue keeps the work of a server and runs it: reviews, replies and the rest.
//
// It makes four promises. What Accept took is committed with its work before it returns, and is
// run, whatever is killed later. For one pull request and kind there is one entry of work: events
// coalesce, the newest head wins, and a run for an older head is cancelled. An entry runs on one
// replica at a time: a replica that stalls past its lease is refused by Run.Check and can record
// nothing. And no repository starves another one.
//
// The rows of work in the store say what is wanted: the newest head, and a generation that grows with
// each event. River runs it, on SQLite and PostgreSQL: each entry that is wanted has one job of River,
// with its attempts, retries and dead letter (decision 80).
package queue

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	random "math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"

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
	Kind Kind           `json:"kind"`
	Repo precedent.Repo `json:"repo,omitzero"`  // zero for work of the server
	Pull int            `json:"pull,omitempty"` // 0 for work of the repository
	Head string         `json:"head,omitempty"` // the head commit that is wanted; empty if any will do
	// what caused it or what it waits for, for people: "push", "no check has started yet"
	Reason string `json:"reason,omitempty"`
}

// Delivery is an event that a forge sent. Ids are unique within the forge, and empty if it sent none.
type Delivery = store.Delivery

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
	Now     func() time.Time // time.Now by default; on PostgreSQL, its clock counts
	Log     *slog.Logger     // discards by default
	// Random returns a number in [0, 1) for the jitter of retries; math/rand by default.
	Random func() float64
	// Slots is how many jobs run here at the same time, at least 2; 4 by default. One repository
	// may use all but one, so that there is always one for the others.
	Slots int
	// Timeout limits how long a job of a kind runs; an hour for kinds that it does not have.
	Timeout map[Kind]time.Duration
	// Lease is how long a replica may be silent before others take over its jobs; 15 s by default.
	Lease time.Duration
	// Poll is how often a replica looks for work, at most 1 s, which is the default.
	Poll time.Duration
	// Redact removes secrets of the operator from the reasons of failures; others are removed
	// anyway. It may be nil.
	Redact func(string) string
	// Do does the work. If it returns nil, it is done; LaterError and Never say what they say, and another
	// error is retried later. A panic is an error. Without Do, a job becomes a dead letter.
	Do func(ctx context.Context, r *Run) error
}

// Run is one execution of an entry of work. Its context is cancelled when a newer head is wanted,
// the lease is lost, a person cancels it, or the replica stops.
type Run struct {
	Task
	ID      int64 // of the entry
	Attempt int   // 1 for the first

	queue  *Queue
	job    *river.Job[entry]
	work   store.Work // as it was when this execution began
	pushed string     // by this run; under the queue's mutex
	cancel context.CancelCauseFunc
}

// Queue is the work of an installation, as one replica sees it. It is safe for concurrent use.
type Queue struct {
	db     *store.DB
	o      Options
	pool   *sql.DB // of River
	client *river.Client[*sql.Tx]

	periods []period
	// claiming has a value from a claim until its run is in runs. It is a channel and no mutex because the database may
	// make a claim wait: others give up when their context ends.
	claiming chan struct{}
	loops    sync.WaitGroup
	endLoops context.CancelFunc // nil before Start
	look     chan struct{}      // asks to look at the runs now
	// strays are jobs of River that are said to run here and do not, and since when. Only rescue has them.
	strays map[int64]time.Time
	// commitTimeout limits how long Accept waits for the database: forges wait 10 s for an answer.
	commitTimeout time.Duration

	mu       sync.Mutex
	runs     map[int64]*Run // by the id of the entry
	inside   map[string]int // how many run here of each repository
	busy     map[int64]bool // the jobs of River that are being done here
	renewed  time.Time      // when the lease was renewed last, by the monotonic clock
	stopping bool
}

// Defaults of Options, and limits.
const (
	defaultSlots   = 4
	defaultTimeout = time.Hour
	defaultLease   = 15 * time.Second
	defaultPoll    = time.Second
	// maxAttempts is how often a job fails, or a replica dies that runs it, before it becomes a dead
	// letter.
	maxAttempts = 8
	// keepEnded is how long entries are kept that are done.
	keepEnded = 7 * 24 * time.Hour
	// keepDead is how long dead letters and the ids of deliveries are kept. GitHub redelivers what
	// is at most 3 days old.
	keepDead = 30 * 24 * time.Hour
)

func (o Options) withDefaults() Options {
	o.Replica = cmp.Or(o.Replica, "replica-"+rand.Text()[:12])
	o.Slots = max(2, cmp.Or(o.Slots, defaultSlots))
	o.Lease = cmp.Or(o.Lease, defaultLease)
	o.Poll = min(time.Second, cmp.Or(o.Poll, defaultPoll))
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Random == nil {
		o.Random = random.Float64
	}
	return o
}

// Open opens the queue of a database and creates its tables there. It runs nothing before Start.
// The caller ends it with Stop. A database in memory cannot have one.
func Open(ctx context.Context, db *store.DB, o Options) (*Queue, error) {
	q := &Queue{
		db: db, o: o.withDefaults(), look: make(chan struct{}, 1), claiming: make(chan struct{}, 1),
		commitTimeout: 8 * time.Second,
		runs:          map[int64]*Run{}, inside: map[string]int{}, busy: map[int64]bool{},
	}
	if err := q.openRiver(ctx); err != nil {
		if q.pool != nil {
			err = errors.Join(err, q.pool.Close())
		}
		return nil, fmt.Errorf("open job queue: %w", err)
	}
	return q, nil
}

func (q *Queue) lookNow() {
	select {
	case q.look <- struct{}{}:
	default:
	}
}
