package memory

import (
	"context"

	"github.com/precedent-dev/precedent/internal/store"
)

// Shared returns the rows that clones of the repository share.
func (m *Memory) Shared(ctx context.Context) (store.Shared, error) {
	rows, err := m.rows(ctx)
	if err != nil {
		return store.Shared{}, err
	}
	return rows.Shared(ctx)
}

// MergeShared saves what merge returns for the shared rows as they are now, all or nothing.
func (m *Memory) MergeShared(ctx context.Context, merge func(store.Shared) (store.Shared, error)) error {
	rows, err := m.rows(ctx)
	if err != nil {
		return err
	}
	return rows.MergeShared(ctx, merge)
}
