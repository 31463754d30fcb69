package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// State is what an entry of work is doing.
type State string

// The states of an entry.
const (
	Ready     State = store.WorkReady     // runs when a worker is free
	Waiting   State = store.WorkWaiting   // until it is due: a retry, or a job that said Later
	Running   State = store.WorkRunning   // on a replica
	Done      State = store.WorkDone      // nothing more is wanted
	Dead      State = store.WorkDead      // a dead letter: retries are over
	Cancelled State = store.WorkCancelled // by a person
)

// States are all states.
var States = []State{Ready, Waiting, Running, Done, Dead, Cancelled}

// Job is an entry of work as people see it.
type Job struct {
	Task
	ID       int64     `json:"id"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`          // failures since the last success or new head, and replicas that died
	Problem  string    `json:"problem,omitempty"` // of the last failure, redacted
	Replica  string    `json:"replica,omitempty"` // where it runs
	WantedAt time.Time `json:"wanted_at"`         // since when it waits, or waited
	Since    time.Time `json:"since"`             // of the state
	Due      time.Time `json:"due,omitzero"`      // when a waiting one runs again
}

// Filter selects entries; the zero value selects all.
type Filter struct {
	States []State
	Kind   Kind
	Repo   precedent.Repo
	Limit  int // 100 by default
}

// ErrUnknown means that there is no entry with the id.
var ErrUnknown = errors.New("there is no such job")

// defaultLimit is how many entries List returns by default.
const defaultLimit = 100

// List returns the entries, those that changed last first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Job, error) {
	filter := store.WorkFilter{Kind: string(f.Kind), Repo: f.Repo.String(), Limit: cmp.Or(f.Limit, defaultLimit)}
	for _, s := range f.States {
		filter.States = append(filter.States, string(s))
	}
	all, err := q.db.ListWork(ctx, filter)
	jobs := make([]Job, len(all))
	for i, w := range all {
		jobs[i] = jobOf(w)
	}
	return jobs, err
}

func jobOf(w store.Work) Job {
	repo, _ := precedent.ParseRepo(w.Repo) // a row that cannot be read is a dead letter that says so
	j := Job{
		Task: Task{Kind: Kind(w.Kind), Repo: repo, Pull: w.Pull, Head: w.Head, Reason: w.Reason},
		ID:   w.ID, State: State(w.State), Attempts: w.Attempts + w.Crashes, Problem: w.Problem, Replica: w.Replica, WantedAt: w.WantedAt, Since: w.ChangedAt,
	}
	if j.State == Waiting {
		j.Due = w.DueAt
	}
	return j
}

// Show returns an entry, or ErrUnknown.
func (q *Queue) Show(ctx context.Context, id int64) (Job, error) {
	all, err := q.db.ListWork(ctx, store.WorkFilter{ID: id, Limit: 1})
	switch {
	case err != nil:
		return Job{}, err
	case len(all) == 0 || id == 0:
		return Job{}, ErrUnknown
	}
	return jobOf(all[0]), nil
}

// Retry makes an entry run now, with all attempts: a dead letter, a cancelled or done one, or one
// that waits. One that runs is run once more.
func (q *Queue) Retry(ctx context.Context, id int64) (Job, error) {
	return q.change(ctx, "retry job", id, q.db.RetryWork)
}

// Cancel ends an entry that waits or runs. It runs again when it is wanted again.
func (q *Queue) Cancel(ctx context.Context, id int64) (Job, error) {
	return q.change(ctx, "cancel job", id, q.db.CancelWork)
}

func (q *Queue) change(ctx context.Context, op string, id int64, do func(context.Context, *sql.Tx, int64, time.Time) error) (Job, error) {
	if _, err := q.Show(ctx, id); err != nil {
		return Job{}, err
	}
	err := q.db.Transact(ctx, op, func(tx *sql.Tx) error {
		now, err := q.clock(ctx, tx)
		if err != nil {
			return err
		}
		if err := do(ctx, tx, id, now); err != nil {
			return err
		}
		return q.issueTickets(ctx, tx)
	})
	if err != nil {
		return Job{}, err
	}
	q.lookNow()
	return q.Show(ctx, id)
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
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	counts, err := q.db.CountWork(ctx)
	s := Stats{Kinds: map[Kind]KindStats{}}
	for _, c := range counts {
		k := s.Kinds[Kind(c.Kind)]
		switch State(c.State) {
		case Ready:
			k.Ready, k.Oldest = c.Number, max(0, q.o.Now().Sub(c.Oldest))
		case Waiting:
			k.Waiting = c.Number
		case Running:
			k.Running = c.Number
		case Dead:
			k.Dead = c.Number
			s.Dead += c.Number
		}
		s.Kinds[Kind(c.Kind)] = k
	}
	return s, err
}
