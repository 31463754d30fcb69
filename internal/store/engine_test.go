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

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
)

// testBook: what a repository takes is bounded for a day, and what a pull request takes over days; what one bound refuses
// is in no book.
func testBook(t *testing.T, open opener) {
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	for i, step := range []struct {
		after  time.Duration
		usd    float64
		number int
		want   Booked
	}{
		{0, 2, 7, Booked{2, 2, ""}},
		{0, 2, 7, Booked{2, 2, "pull request"}},
		{0, 2, 8, Booked{4, 2, ""}},
		{0, 2, 8, Booked{4, 2, "day"}},
		{0, -1, 7, Booked{3, 1, ""}},
		{0, 1, 0, Booked{4, 0, ""}},
		{24 * time.Hour, 2.5, 7, Booked{0, 1, "pull request"}},
		{0, 0.5, 0, Booked{0.5, 0, ""}},
	} {
		now = now.Add(step.after)
		got, err := r.Book(t.Context(), step.usd, Bounds{Day: 5, Pull: 3, Number: step.number})
		if err != nil || got != step.want {
			t.Errorf("%d: %+v, %v; want %+v", i, got, err, step.want)
		}
	}
	needs.Result(t, "another repository", Booked{Day: 5})(repoFor(t, r.db, local).Book(t.Context(), 5, Bounds{Day: 5}))
}

func testAnswers(t *testing.T, open opener) {
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	has := func(task, want string) {
		t.Helper()
		got, found, err := r.Answer(t.Context(), task)
		if err != nil || found != (want != "") || string(got) != want {
			t.Errorf("Answer(%s) = %q, %v, %v; want %q", task, got, found, err, want)
		}
	}
	keep := func(task, answer string) {
		t.Helper()
		needs.NoError(t, r.KeepAnswer(t.Context(), task, []byte(answer)))
	}
	has("a", "")
	keep("a", `{"n":1}`)
	keep("a", `{"n":2}`)
	keep("b", `{}`)
	has("a", `{"n":2}`)
	now = now.Add(answerLife + time.Hour)
	has("b", "")
	keep("c", `{}`)
	needs.NoError(t, r.DropAnswers(t.Context(), []string{"c", "x"}))
	has("c", "")
	now = start
	has("b", "") // it was dropped, not only too old
}

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
	{"dismissal of a finding", 1, func(ctx context.Context, r *Repo, _ int) (bool, error) {
		_, added, err := r.Reject(ctx, dismissalOf(bug("x")))
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
