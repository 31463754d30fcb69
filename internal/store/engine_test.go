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

func testBook(t *testing.T, open opener) {
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	book := func(usd float64, want bool, total float64) {
		t.Helper()
		got, err := r.Book(t.Context(), usd, Bounds{Day: 1})
		if err != nil || got.Over == "" != want || fmt.Sprintf("%.6f", got.Day) != fmt.Sprintf("%.6f", total) {
			t.Errorf("Book(%v) = %+v, %v; want %v, %v", usd, got, err, total, want)
		}
	}
	book(0.7, true, 0.7)
	book(0.4, false, 0.7)
	book(-0.5, true, 0.2)
	book(0.4, true, 0.6)
	now = now.Add(24 * time.Hour)
	book(0.9, true, 0.9)
	stranger := repoFor(t, r.db, local)
	if got, err := stranger.Book(t.Context(), 1, Bounds{Day: 1}); err != nil || got.Over != "" || got.Day != 1 {
		t.Errorf("another repository: %+v, %v", got, err)
	}
}

// testBookOfPullRequests: what a pull request takes is bounded over days, and
// what one bound refuses is in no book.
func testBookOfPullRequests(t *testing.T, open opener) {
	now := start
	r := repoFor(t, open(t, Options{Now: func() time.Time { return now }}), remote)
	for i, step := range []struct {
		usd    float64
		number int
		over   string
		day    float64
		pull   float64
	}{
		{2, 7, "", 2, 2},
		{2, 7, "pull request", 2, 2},
		{2, 8, "", 4, 2},
		{2, 8, "day", 4, 2},
		{-1, 7, "", 3, 1},
		{1, 0, "", 4, 0},
	} {
		got, err := r.Book(t.Context(), step.usd, Bounds{Day: 5, Pull: 3, Number: step.number})
		if want := (Booked{step.day, step.pull, step.over}); err != nil || got != want {
			t.Errorf("%d: %+v, %v; want %+v", i, got, err, want)
		}
	}
	now = now.Add(24 * time.Hour)
	if got, err := r.Book(t.Context(), 2.5, Bounds{Day: 5, Pull: 3, Number: 7}); err != nil || got.Over != "pull request" {
		t.Errorf("the next day: %+v, %v", got, err)
	}
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
	keep("c", `{}`)
	has("a", `{"n":2}`)
	if _, found, err := repoFor(t, r.db, local).Answer(t.Context(), "a"); found || err != nil {
		t.Errorf("another repository has it: %v, %v", found, err)
	}
	needs.NoError(t, r.DropAnswers(t.Context(), []string{"a", "x"}))
	has("a", "")
	has("b", `{}`)
	now = now.Add(answerLife + time.Hour)
	has("b", "")
	keep("c", `{}`)
	needs.NoError(t, r.DropAnswers(t.Context(), nil))
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
