package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestRename: the entries of a repository that was renamed have its present name, each once; what
// waits and what is dead stays so.
func TestRename(t *testing.T) {
	inTurn(t, func(t *testing.T, db *store.DB) {
		from, to := precedent.Repo{Host: "github.com", Owner: "octo", Name: "app"},
			precedent.Repo{Host: "github.com", Owner: "team", Name: "store"}
		var did atomic.Int64
		q := started(t, db, Options{Slots: 4, Do: func(_ context.Context, r *Run) error {
			did.Add(1)
			switch r.Pull {
			case 1, 4:
				return Later(time.Hour, "it waits")
			case 2:
				return Never(errors.New("it cannot succeed"))
			}
			return nil
		}})
		defer stop(t, q)
		accept(t, q, "a", review(from, 1, "a"), review(from, 2, "b"), review(from, 3, "c"), review(from, 4, "d"),
			review(to, 3, "c2"), review(to, 4, "d2"), review(small, 1, "x"))
		ended := func(want ...string) bool {
			var got []string
			for _, j := range jobs(t, q) {
				got = append(got, fmt.Sprintf("%s#%d %s", j.Repo, j.Pull, j.State))
			}
			slices.Sort(got)
			slices.Sort(want)
			return slices.Equal(got, want)
		}
		needs.WaitUntil(t, "all ran once", func() bool {
			return ended("github.com/octo/app#1 waiting", "github.com/octo/app#2 dead", "github.com/octo/app#3 done",
				"github.com/octo/app#4 waiting",
				"github.com/team/store#3 done", "github.com/team/store#4 waiting", small.String()+"#1 waiting")
		})
		if did.Load() != 7 {
			t.Errorf("%d runs", did.Load())
		}
		for range 2 { // again, nothing changes
			must(t, q.Rename(t.Context(), from, to))
			// Of #4, two waited: the one that was there is wanted, runs, and waits again.
			needs.WaitUntil(t, "all are renamed", func() bool {
				return ended("github.com/team/store#1 waiting", "github.com/team/store#2 dead", "github.com/team/store#3 done",
					"github.com/team/store#4 waiting", small.String()+"#1 waiting")
			})
		}
		for _, j := range jobs(t, q) {
			if j.Repo == to && j.ID != entryID(j.Task) {
				t.Errorf("%s#%d has the id of another name", j.Repo, j.Pull)
			}
			if j.Repo == to && j.Pull == 4 && j.Head != "d2" {
				t.Errorf("#4 has the head %q", j.Head)
			}
		}
		if did.Load() != 8 {
			t.Errorf("%d runs", did.Load())
		}
		accept(t, q, "b", review(to, 2, "b")) // a delivery starts the dead letter under its new name
		needs.WaitUntil(t, "the dead letter ran", func() bool { return did.Load() == 9 })
	})
}

// TestOneRound: a review and a fix of one pull request never run at the same time, on any replica; those
// of others do.
func TestOneRound(t *testing.T) {
	inTurn(t, func(t *testing.T, db *store.DB) {
		var here, most, runs atomic.Int64
		both := make(chan struct{}, 2) // a fix and a review of two pull requests
		o := Options{Slots: 4, Do: func(ctx context.Context, r *Run) error {
			if r.Pull != 7 {
				both <- struct{}{}
				for len(both) < 2 {
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(time.Millisecond):
					}
				}
				return nil
			}
			n := here.Add(1)
			defer here.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				continue
			}
			<-time.After(2 * time.Millisecond)
			runs.Add(1)
			return nil
		}}
		queues := []*Queue{started(t, db, o), started(t, db, o)}
		for i := range 20 {
			accept(t, queues[i%2], fmt.Sprint(i), review(big, 7, fmt.Sprint(i)), Task{Kind: Fix, Repo: big, Pull: 7})
		}
		accept(t, queues[0], "others", Task{Kind: Fix, Repo: big, Pull: 8}, review(big, 9, "a"))
		needs.WaitUntil(t, "all is done", func() bool { return done(t, queues[0], 4) })
		for _, q := range queues {
			stop(t, q)
		}
		if most.Load() != 1 || runs.Load() < 2 {
			t.Errorf("%d at once, %d runs", most.Load(), runs.Load())
		}
	})
}
