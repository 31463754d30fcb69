package workspace

import (
	"context"
	"errors"
	"time"
)

// Pauses of KeepConsolidating.
const (
	lookEvery  = 5 * time.Minute
	pruneEvery = 24 * time.Hour
)

// KeepConsolidating looks for patterns in a memory whenever that is due, and prunes it once a
// day, until ctx ends or the memory is gone. It opens the memory each time, so that it may be
// moved or restored. tell is called after each attempt; an error does not end the work.
func (r *Env) KeepConsolidating(ctx context.Context, open func(context.Context) (*Workspace, error), c Consolidation,
	tell func(Consolidated, error),
) error {
	var pruned time.Time
	for {
		gone, err := r.lookOnce(ctx, open, c, &pruned, tell)
		if ctx.Err() != nil || gone {
			return nil //nolint:nilerr // that ctx ends is how it is stopped
		}
		if err != nil {
			tell(Consolidated{}, err)
		}
		if err := r.Sleep(ctx, lookEvery); err != nil {
			return nil //nolint:nilerr // likewise
		}
	}
}

// lookOnce consolidates if that is due, and else prunes if that is. gone tells that there is no
// memory any more.
func (r *Env) lookOnce(ctx context.Context, open func(context.Context) (*Workspace, error), c Consolidation,
	pruned *time.Time, tell func(Consolidated, error),
) (gone bool, err error) {
	w, err := open(ctx)
	if err != nil {
		return false, err
	}
	defer w.Close()
	if !w.Memory.DB.Kept() {
		return true, nil
	}
	due, err := w.ConsolidationDue(ctx)
	if err != nil {
		return false, err
	}
	now := r.Now()
	switch {
	case due:
		done, err := r.Consolidate(ctx, w, c)
		if errors.Is(err, context.Canceled) {
			return false, err
		}
		if !done.Busy && err == nil {
			*pruned = now
		}
		tell(done, err)
	case now.Sub(*pruned) >= pruneEvery:
		if _, err := w.Memory.Prune(ctx); err != nil {
			return false, err
		}
		*pruned = now
	}
	return false, nil
}
