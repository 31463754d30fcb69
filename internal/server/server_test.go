package server

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/forge/github"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// shop is the repository of the tests. Its name on the forge has other capitals than the operator wrote.
var shop = precedent.Repo{Host: "git.example", Owner: "acme", Name: "shop"}

const (
	oldSecret = "the secret until yesterday"
	newSecret = "the secret since yesterday"
)

// bent is a forge of which a test replaces methods.
type bent struct {
	forge.Forge
	open         func(context.Context, precedent.Repo) ([]forge.PullRequest, error)
	me           func(context.Context) (forge.Person, error)
	repositories func(context.Context, string) ([]precedent.Repo, error)
	pull         func(int) (forge.PullRequest, error)
	quota        forge.Quota
}

func (b *bent) Open(ctx context.Context, repo precedent.Repo) ([]forge.PullRequest, error) {
	return b.open(ctx, repo)
}

func (b *bent) Me(ctx context.Context) (forge.Person, error) {
	if b.me == nil {
		return forge.Person{ID: "500", Login: "precedent-bot"}, nil
	}
	return b.me(ctx)
}

func (b *bent) Repositories(ctx context.Context, owner string) ([]precedent.Repo, error) {
	return b.repositories(ctx, owner)
}

func (b *bent) PullRequest(_ context.Context, _ precedent.Repo, n int) (forge.PullRequest, error) {
	return b.pull(n)
}

func (b *bent) Quota() forge.Quota { return b.quota }

func openSQLite(t testing.TB) *store.DB {
	t.Helper()
	db := needs.Value(store.Open(t.Context(), filepath.Join(t.TempDir(), "server.db"), store.Options{}))(t)
	t.Cleanup(func() { needs.NoError(t, db.Close()) })
	return db
}

// stage is a server whose jobs nobody runs, and its log.
type stage struct {
	*Server
	forge *bent
	db    *store.DB
	log   *buffer
	web   http.Handler
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newStage(t testing.TB, db *store.DB, change func(*Options)) *stage {
	t.Helper()
	client, err := github.New(github.Options{BaseURL: "https://git.example/api/v3"})
	needs.NoError(t, err)
	s := &stage{forge: &bent{Forge: client}, db: db, log: &buffer{}}
	op := needs.Value(settings.Read(settings.Sources{}))(t)
	o := Options{
		Reviewer:   &workspace.Env{Now: time.Now, Shared: db, Log: slog.New(slog.DiscardHandler)},
		Connection: workspace.Connection{Forge: s.forge}, Job: run.Job{Settings: op},
		Repositories: Repositories{Listed: []precedent.Repo{{Host: "git.example", Owner: "Acme", Name: "shop"}}},
		Secrets:      []string{newSecret, oldSecret},
		Replica:      "test", Version: "test", Log: NewLog(s.log, "text", slog.LevelInfo, []string{newSecret, oldSecret}),
		Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random: func(n time.Duration) time.Duration { return n / 2 },
	}
	if change != nil {
		change(&o)
	}
	if s.Server, err = New(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { needs.NoError(t, s.Close(context.Background())) })
	s.web = s.Server.web().Handler
	return s
}

// get asks for a page, from this machine.
func (s *stage) get(t testing.TB, path string, change func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.RemoteAddr, r.Host = "127.0.0.1:4711", "localhost:8787"
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	s.web.ServeHTTP(w, r)
	return w
}

// jobs are all jobs of the queue.
func (s *stage) jobs(t testing.TB) []queue.Job {
	t.Helper()
	return needs.Value(s.queue.List(t.Context(), queue.Filter{Limit: 100_000}))(t)
}
