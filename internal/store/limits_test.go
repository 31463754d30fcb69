package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
)

// limits are those of the package comment. Each try reports whether it was within the limit.
var limits = []struct {
	name string
	most int
	try  func(ctx context.Context, r *Repo, i int) (bool, error)
}{
	{"spending of a day", 25, func(ctx context.Context, r *Repo, _ int) (bool, error) {
		got, err := r.Book(ctx, 0.1, Bounds{Day: 2.5})
		return got.Over == "", err
	}},
	{"spending of a pull request", 20, func(ctx context.Context, r *Repo, _ int) (bool, error) {
		got, err := r.Book(ctx, 0.1, Bounds{Day: 100, Pull: 2, Number: 7})
		return got.Over == "", err
	}},
	{"proposals of agents", MaxProposals, func(ctx context.Context, r *Repo, i int) (bool, error) {
		l := learningOf(fmt.Sprint("check ", i))
		l.State, l.From.By = precedent.LearningPending, precedent.FromAgent
		_, added, err := r.AddLearning(ctx, l, "an agent")
		if errors.Is(err, ErrProposals) {
			return false, nil
		}
		return added, err
	}},
	{"turn to post", 1, func(ctx context.Context, r *Repo, i int) (bool, error) {
		taken, _, err := r.TakeTurn(ctx, 7, fmt.Sprint("run ", i), "", time.Hour)
		return taken, err
	}},
	{"turn to consolidate", 1, func(ctx context.Context, r *Repo, i int) (bool, error) {
		return r.BeginConsolidation(ctx, fmt.Sprint("holder ", i), time.Hour)
	}},
	{"claim", 1, func(ctx context.Context, r *Repo, i int) (bool, error) {
		return r.db.Claim(ctx, "poller", fmt.Sprint("replica ", i), time.Hour)
	}},
	{"period", 1, func(ctx context.Context, r *Repo, _ int) (begun bool, err error) {
		err = r.db.Transact(ctx, "test", func(tx *sql.Tx) error {
			begun, err = r.db.BeginPeriod(ctx, tx, "sweep", time.Hour, start)
			return err
		})
		return begun, err
	}},
}

// testLimits: of more attempts than a limit allows that are made at once, with two handles, as many
// succeed as it allows.
func testLimits(t *testing.T, open opener) {
	db := open(t)
	handles := []*Repo{repoFor(t, db, remote), repoFor(t, db, remote)}
	if db.Path() != "" {
		handles[1] = repoFor(t, again(t, db), remote)
	}
	for _, limit := range limits {
		var group sync.WaitGroup
		var within atomic.Int64
		for i := range limit.most + 6 {
			group.Go(func() {
				ok, err := limit.try(t.Context(), handles[i%2], i)
				if err != nil {
					t.Errorf("%s: %v", limit.name, err)
				}
				if ok {
					within.Add(1)
				}
			})
		}
		group.Wait()
		if n := within.Load(); n != int64(limit.most) {
			t.Errorf("%s: %d at once, want %d", limit.name, n, limit.most)
		}
	}
	byPerson := learningOf("ask a person") // whose proposals have no limit
	byPerson.State = precedent.LearningPending
	mustAdd(t, handles[0], byPerson)
}
