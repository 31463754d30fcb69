package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/precedent-dev/precedent"
)

// ending is an engine whose task n ends as the n-th status says; an empty one
// is an error.
type ending struct {
	statuses []precedent.Status
	ran      atomic.Int64
}

func (*ending) Info() Info { return Info{Name: "ending", WantsTree: true} }

func (e *ending) Run(context.Context, Task) (Answer, error) {
	n := int(e.ran.Add(1)) - 1
	status := e.statuses[min(n, len(e.statuses)-1)]
	if status == "" {
		return Answer{}, errors.New("broken")
	}
	return Answer{Status: status, Message: "because"}, nil
}

func TestGiveUp(t *testing.T) {
	const (
		ok  = precedent.StatusOK
		bad = precedent.StatusMalformed
		no  = precedent.StatusRefused
		die = precedent.StatusError
	)
	for _, test := range []struct {
		name     string
		statuses []precedent.Status
		ran      int64 // of ten tasks
	}{
		{"malformed always", []precedent.Status{bad}, 3},
		{"refused always", []precedent.Status{no}, 3},
		{"both", []precedent.Status{no, bad, no}, 3},
		{"a good one breaks the row", []precedent.Status{bad, bad, ok, bad, bad, bad}, 6},
		{"trouble neither counts nor breaks the row", []precedent.Status{bad, die, bad, "", precedent.StatusTimeout, bad}, 6},
		{"good always", []precedent.Status{ok}, 10},
		{"crashes always", []precedent.Status{die}, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			inner := &ending{statuses: test.statuses}
			e := GiveUp(inner, 3)
			if info := e.Info(); !cmp.Equal(info, inner.Info()) {
				t.Errorf("Info() = %+v", info)
			}
			var last Answer
			for range 10 {
				if a, err := e.Run(t.Context(), Task{}); err == nil {
					last = a
				}
			}
			if ran := inner.ran.Load(); ran != test.ran {
				t.Errorf("%d tasks were tried, want %d", ran, test.ran)
			}
			if test.ran == 10 {
				return
			}
			if last.Status != precedent.StatusError || !strings.Contains(last.Message, "given up after 3 tasks in a row") || !strings.Contains(last.Message, "because") {
				t.Errorf("the last task ended %s: %s", last.Status, last.Message)
			}
		})
	}
}

func TestGiveUpConcurrently(t *testing.T) {
	inner := &ending{statuses: []precedent.Status{precedent.StatusMalformed}}
	e := GiveUp(inner, 3)
	var given atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				if a, err := e.Run(t.Context(), Task{}); err == nil && a.Status == precedent.StatusError {
					given.Add(1)
				}
			}
		})
	}
	group.Wait()
	// Each of the eight may have been under way when the third ended.
	if ran := inner.ran.Load(); ran < 3 || ran > 3+8 || ran+given.Load() != 800 {
		t.Errorf("%d tasks were tried, %d given up", ran, given.Load())
	}
}
