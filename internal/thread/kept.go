package thread

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Kept are the threads of one pull request in the memory. Whoever changes them does
// so through Kept: nothing else writes threads.
type Kept struct {
	Rows   *store.Repo
	Number int // of the pull request
}

// All returns them, the oldest first.
func (k Kept) All(ctx context.Context) ([]precedent.Thread, error) {
	return k.Rows.Threads(ctx, k.Number)
}

// Save saves threads as they are now, all or none.
func (k Kept) Save(ctx context.Context, threads []precedent.Thread) error {
	return k.Rows.SaveThreads(ctx, threads)
}

// Answer keeps what the answers of a review of the head make of the threads. That
// comes before anything is posted: a process that is killed after closing a
// conversation must not leave a memory that takes it for closed by a person.
func (k Kept) Answer(ctx context.Context, answers []precedent.ThreadAnswer, head string) error {
	all, err := k.All(ctx)
	if err != nil {
		return err
	}
	return k.Save(ctx, Apply(all, answers, head))
}
