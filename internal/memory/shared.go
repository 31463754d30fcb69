package memory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/precedent-dev/precedent"
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

// WithFile adds the rejections of a file of the repository to recalled ones. They hold as long as
// they are in the file, with the limits of others; of two of one finding the newer stays, and one
// that was taken back here since does not hold here.
func (m *Memory) WithFile(ctx context.Context, recalled, file []precedent.Rejection, name string) ([]precedent.Rejection, error) {
	if len(file) == 0 {
		return recalled, nil
	}
	rows, err := m.rows(ctx)
	if err != nil {
		return recalled, err
	}
	taken, err := rows.Forgotten(ctx)
	if err != nil {
		return recalled, err
	}
	until := map[string]time.Time{}
	for _, f := range taken {
		until[f.Fingerprint] = f.At
	}
	all := slices.Clone(recalled)
	for _, j := range file {
		if at, ok := until[j.Fingerprint]; ok && !j.At.After(at) {
			continue
		}
		j.Who = strings.TrimSpace(j.Who + " (" + name + ")")
		all = append(all, j)
	}
	slices.SortStableFunc(all, func(a, b precedent.Rejection) int { return b.At.Compare(a.At) })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(j precedent.Rejection) bool {
		again := seen[j.Fingerprint]
		seen[j.Fingerprint] = true
		return again
	}), nil
}
