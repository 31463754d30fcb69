package thread

import (
	"context"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

// Kept gives access to the stored threads of one pull request. Nothing else may write threads.
type Kept struct {
	Rows   *store.Repo
	Number int // of the pull request
}

// All returns the threads, oldest first.
func (k Kept) All(ctx context.Context) ([]precedent.Thread, error) {
	return k.Rows.Threads(ctx, k.Number)
}

// Save saves the threads, all or none.
func (k Kept) Save(ctx context.Context, threads []precedent.Thread) error {
	return k.Rows.SaveThreads(ctx, threads)
}

// Answer saves what a review means for the threads. Call it before anything is
// posted: if the process is killed after it closed a conversation, the memory must not take
// that for a person's decision.
func (k Kept) Answer(ctx context.Context, r *precedent.Review) error {
	all, err := k.All(ctx)
	if err != nil {
		return err
	}
	return k.Save(ctx, Apply(all, r))
}
