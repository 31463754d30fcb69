package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestUnreadableCorpus: a review goes on without a corpus that cannot be read or that causes a panic, and says so;
// one that the policy or the operator turned off is not opened.
func TestUnreadableCorpus(t *testing.T) {
	db, err := store.OpenMemory(t.Context(), store.Options{})
	needs.NoError(t, err)
	id := precedent.LocalRepo("x")
	w := &workspace.Workspace{
		Repository: &workspace.Repository{IDs: []precedent.Repo{id}},
		Memory:     &memory.Memory{DB: db, Repo: id, Now: time.Now},
	}
	needs.NoError(t, w.Memory.Open(t.Context()))
	db.Close()
	for _, test := range []struct {
		on     bool
		policy precedent.CitationDisplay
		fails  int
	}{{true, "", 1}, {true, precedent.PrecedentsAnonymous, 1}, {false, "", 0}, {true, precedent.PrecedentsOff, 0}} {
		p := &Prepared{settings: &settings.Settings{Precedents: settings.Value[bool]{Value: test.on}}, workspace: w}
		p.Input.Change, p.Input.Policy.Precedents = &diff.Change{}, test.policy
		needs.NoError(t, p.recallPrecedents(t.Context(), w, true))
		got := p.Input.Precedents
		if len(got.Failures) != test.fails || got.Index != nil || test.fails > 0 &&
			!strings.HasPrefix(got.Failures[0], "what people wrote on earlier pull requests is not used: ") {
			t.Errorf("%+v: %+v", test, got)
		}
	}
	p := &Prepared{settings: &settings.Settings{Precedents: settings.Value[bool]{Value: true}}}
	needs.NoError(t, p.recallPrecedents(t.Context(), nil, true))
	if got := p.Input.Precedents.Failures; len(got) != 1 || !strings.Contains(got[0], "crashed: ") {
		t.Errorf("after a panic: %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.recallPrecedents(ctx, w, true); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
