package server

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestReadyForOthers: somebody who asks and goes away does not make a server look as if it could not
// work, and those who ask at the same time make one look at the database and the forge.
func TestReadyForOthers(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	var asked atomic.Int64
	s.forge.me = func(ctx context.Context) (forge.Person, error) {
		asked.Add(1)
		return forge.Person{ID: "500", Login: "precedent-bot"}, ctx.Err()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if w := s.get(t, "/readyz", func(r *http.Request) { *r = *r.WithContext(gone) }); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	needs.Equal(t, int64(1), asked.Load())
}

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
