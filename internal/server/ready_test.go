package server

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestOutdated: a server learns soon that a newer program has changed its database, and does nothing more.
func TestOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, ended := openSQLite(t), atomic.Bool{}
		s := newStage(t, db, func(o *Options) {
			o.Repositories = Repositories{Owners: []string{"acme"}}
			o.Sleep = func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); ended.Store(true); return ctx.Err() }
		})
		s.forge.repositories = func(context.Context, string) ([]precedent.Repo, error) { return nil, nil }
		pool, err := db.Pool(1)
		needs.NoError(t, err)
		_, err = pool.ExecContext(t.Context(), "INSERT INTO schema_version (version_id, is_applied) VALUES (999, 1)")
		needs.NoError(t, errors.Join(err, pool.Close()))
		if err := s.Run(t.Context(), nil); !errors.Is(err, store.ErrNewer) || !ended.Load() {
			t.Errorf("%v, the polls ended: %t", err, ended.Load())
		}
	})
}
