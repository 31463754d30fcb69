package workspace

import (
	"context"

	"github.com/precedent-dev/precedent/internal/queue"
)

// Jobs is the work of a server, for commands that list and change it.
type Jobs = queue.Queue

// QueuedJob is an entry of that work.
type QueuedJob = queue.Job

// JobFilter selects entries.
type JobFilter = queue.Filter

// JobState is what an entry is doing.
type JobState = queue.State

// JobKind is what an entry does.
type JobKind = queue.Kind

// The states of jobs: dead letters, and those that run, wait for their time or wait for a worker.
const (
	DeadJob    = queue.Dead
	RunningJob = queue.Running
	WaitingJob = queue.Waiting
	ReadyJob   = queue.Ready
)

// JobStates and JobKinds are all states and kinds.
var (
	JobStates = queue.States
	JobKinds  = queue.Kinds
)

// ErrNoJob means that there is no entry with an id.
var ErrNoJob = queue.ErrUnknown

// OpenJobs opens the jobs of the database of a server. The caller ends it with Stop.
func (r *Env) OpenJobs(ctx context.Context, db *Database) (*Jobs, error) {
	return queue.Open(ctx, db, queue.Options{Now: r.Now, Log: r.Log})
}
