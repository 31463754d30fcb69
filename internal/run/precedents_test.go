package run

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/store"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// TestWithin: work that takes too long, or crashes, is an error, and a cancelled review ends.
func TestWithin(t *testing.T) {
	var release chan bool
	for _, test := range []struct {
		name string
		work func(context.Context) (int, error)
		want string
	}{
		{"done", func(context.Context) (int, error) { return 7, nil }, ""},
		{"failed", func(context.Context) (int, error) { return 0, errors.New("no such table") }, "no such table"},
		{"deaf", func(context.Context) (int, error) { <-release; return 1, nil }, "it took longer than 20s"},
		{
			"heeds its context", func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() },
			"it took longer than 20s",
		},
		{"crash", func(context.Context) (int, error) { panic("index out of range") }, "crashed: index out of range"},
	} {
		synctest.Test(t, func(t *testing.T) {
			release = make(chan bool)
			defer close(release)
			began := time.Now()
			n, err := within(t.Context(), precedentTime, test.work)
			if test.want == "" && (err != nil || n != 7) || test.want != "" &&
				(err == nil || !strings.Contains(err.Error(), test.want) || n != 0) {
				t.Errorf("%s: %d, %v", test.name, n, err)
			}
			if took := time.Since(began); took > precedentTime {
				t.Errorf("%s: it took %s", test.name, took)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := within(ctx, precedentTime, func(ctx context.Context) (int, error) {
		<-ctx.Done()
		return 0,
			ctx.Err()
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestUnreadableCorpus: a review goes on without a corpus that cannot be read, and says so; one that
// the policy or the operator turned off is not opened.
func TestUnreadableCorpus(t *testing.T) {
	db, err := store.OpenMemory(t.Context(), store.Options{})
	needs.NoError(t, err)
	db.Close()
	id := precedent.LocalRepo("x")
	w := &workspace.Workspace{
		Repository: &workspace.Repository{IDs: []precedent.Repo{id}},
		Memory:     &memory.Memory{DB: db, Repo: id, Now: time.Now},
	}
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
}
