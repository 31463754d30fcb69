package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// State is what an entry of work is doing.
type State string

// The states of an entry. What is not done, dead or cancelled has a job of River, or gets one.
const (
	Ready     State = "ready"     // runs when a worker is free
	Waiting   State = "waiting"   // until it is due: a retry, or a job that said so
	Running   State = "running"   // on a replica
	Done      State = "done"      // nothing more is wanted
	Dead      State = "dead"      // a dead letter: retries are over
	Cancelled State = "cancelled" // by a person
)

// States are all states.
var States = []State{Ready, Waiting, Running, Done, Dead, Cancelled}

// Job is an entry of work as people see it.
type Job struct {
	Task
	ID       int64     `json:"id"`
	State    State     `json:"state"`
	Attempts int       `json:"attempts"`          // failures since the last success, and replicas that died
	Problem  string    `json:"problem,omitempty"` // of the last failure, redacted
	Replica  string    `json:"replica,omitempty"` // where it runs
	WantedAt time.Time `json:"wanted_at"`         // since when it waits, or waited
	Since    time.Time `json:"since"`             // of the state
	Due      time.Time `json:"due,omitzero"`      // when a waiting one runs again
}

// Name says what the job does, for people: "review github.com/owner/name#7".
func (j *Job) Name() string {
	name := string(j.Kind)
	if !j.Repo.IsZero() {
		name += " " + j.Repo.String()
	}
	if j.Pull != 0 {
		name += "#" + strconv.Itoa(j.Pull)
	}
	return name
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

const defaultLimit = 100

// List returns the entries, those that changed last first.
func (q *Queue) List(ctx context.Context, f Filter) ([]Job, error) {
	filter := store.WorkFilter{Kind: string(f.Kind), Repo: f.Repo.String(), Limit: cmp.Or(f.Limit, defaultLimit)}
	for _, s := range f.States {
		filter.States = append(filter.States, string(s))
	}
	return q.list(ctx, filter)
}

func (q *Queue) list(ctx context.Context, filter store.WorkFilter) ([]Job, error) {
	all, err := q.db.ListWork(ctx, filter)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, w := range all {
		ids = append(ids, w.Job)
	}
	found, err := q.client.Driver().GetExecutor().JobGetByIDMany(ctx, &riverdriver.JobGetByIDManyParams{ID: ids})
	if err != nil {
		return nil, err
	}
	rows := map[int64]*rivertype.JobRow{}
	for _, row := range found {
		rows[row.ID] = row
	}
	jobs := make([]Job, len(all))
	for i, w := range all {
		jobs[i] = jobOf(w, rows[w.Job])
	}
	return jobs, nil
}

// jobOf is an entry with its job of River, which may be gone.
func jobOf(w store.Work, row *rivertype.JobRow) Job {
	repo, _ := precedent.ParseRepo(w.Repo) // a row that cannot be read is a dead letter that says so
	j := Job{
		Task: Task{Kind: Kind(w.Kind), Repo: repo, Pull: w.Pull, Head: w.Head, Reason: w.Reason},
		ID:   w.ID, State: State(w.State), Problem: w.Problem, Replica: w.Replica, WantedAt: w.WantedAt, Since: w.ChangedAt,
	}
	if row == nil || j.State == Done || j.State == Cancelled {
		return j
	}
	j.Attempts = row.Attempt
	switch j.State {
	case Running:
		j.Attempts--
	case Waiting:
		j.Due = row.ScheduledAt
	}
	return j
}

// Show returns an entry, or ErrUnknown.
func (q *Queue) Show(ctx context.Context, id int64) (Job, error) {
	all, err := q.list(ctx, store.WorkFilter{ID: id, Limit: 1})
	switch {
	case err != nil:
		return Job{}, err
	case len(all) == 0 || id == 0:
		return Job{}, ErrUnknown
	}
	return all[0], nil
}

// Retry makes an entry run now, with all attempts: a dead letter, a cancelled or done one, or one
// that waits. One that runs is run once more.
func (q *Queue) Retry(ctx context.Context, id int64) (Job, error) {
	return q.changeOne(ctx, "retry job", id, func(tx *sql.Tx, now time.Time) error {
		w, found, err := q.db.RetryWork(ctx, tx, id, now)
		if err != nil || !found {
			return err
		}
		// Another job has all attempts. The former one is not deleted: on SQLite, River ends the process
		// if a job is gone whose end it is about to save.
		if w.Replica == "" {
			if err := gone(q.client.JobCancelTx(ctx, tx, w.Job)); err != nil {
				return err
			}
		}
		return q.issue(ctx, tx, []store.Work{w})
	})
}

// Cancel ends an entry that waits or runs. It runs again when it is wanted again.
func (q *Queue) Cancel(ctx context.Context, id int64) (Job, error) {
	return q.changeOne(ctx, "cancel job", id, func(tx *sql.Tx, now time.Time) error {
		w, found, err := q.db.CancelWork(ctx, tx, id, now)
		if err != nil || !found {
			return err
		}
		return gone(q.client.JobCancelTx(ctx, tx, w.Job))
	})
}

func (q *Queue) changeOne(ctx context.Context, op string, id int64, do func(*sql.Tx, time.Time) error) (Job, error) {
	if _, err := q.Show(ctx, id); err != nil {
		return Job{}, err
	}
	if err := q.change(ctx, op, do); err != nil {
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
