package workspace

import (
	"log/slog"
	"testing"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestSharedMemoryDown: a server does not review without the memory, and posts nothing that people dismissed.
func TestSharedMemoryDown(t *testing.T) {
	r := &Env{Shared: needs.Value(store.OpenMemory(t.Context(), store.Options{}))(t), Log: slog.New(slog.DiscardHandler)}
	needs.NoError(t, r.Shared.Close())
	p := &Repository{IDs: []precedent.Repo{{Host: "example.com", Owner: "team", Name: "app"}}}
	if w, err := r.OpenForReview(t.Context(), p); err == nil {
		t.Errorf("opened %v", w.Failures)
	}
}
