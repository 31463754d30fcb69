package server

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"

	"github.com/precedent-dev/precedent/internal/needs"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/forge"
	"github.com/precedent-dev/precedent/internal/queue"
)

// TestCheckCI: checks of no pull request are for those that have the head, those that wait for CI by
// the operator's names of the labels, and, as a policy has other names, those whose round waits. A
// round that failed keeps its pause.
func TestCheckCI(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	labels := map[int][]string{
		1: {"checking"}, 2: {"checking"}, 3: {"bot-ci-pending"}, 4: {"checking"}, 5: nil, 6: {"checking"},
	}
	s.forge.open = func(context.Context, precedent.Repo) ([]forge.PullRequest, error) {
		var all []forge.PullRequest
		for n := 1; n <= len(labels); n++ {
			all = append(all, forge.PullRequest{
				Number: n, State: forge.Open, Labels: labels[n], Head: forge.Branch{SHA: sha(n)},
			})
		}
		return all, nil
	}
	for n, problem := range map[int]string{1: "", 4: "the forge is down", 5: ""} {
		needs.NoError(t, s.queue.Want(t.Context(), queue.Task{
			Kind: queue.Review, Repo: shop, Pull: n, Head: sha(n), Reason: "before",
		}))
		err := s.db.Transact(t.Context(), "let a job wait", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), "UPDATE work SET ran = generation, problem = $1 WHERE pull = $2", problem, n)
			if err == nil {
				_, err = tx.ExecContext(t.Context(), `UPDATE river_job SET state = 'scheduled', scheduled_at = '2200-01-01 00:00:00'
					WHERE id = (SELECT job FROM work WHERE pull = $1)`, n)
			}
			return err
		})
		needs.NoError(t, err)
	}
	needs.NoError(t, s.checkCI(t.Context(), &queue.Run{Task: queue.Task{
		Kind: queue.CheckCI, Repo: shop, Head: sha(2), Reason: "run completed",
	}}))
	var wanted []int
	for _, j := range s.jobs(t) {
		if j.State == queue.Ready && j.Reason == "run completed" {
			wanted = append(wanted, j.Pull)
		}
	}
	slices.Sort(wanted)
	needs.Equal(t, []int{1, 2, 3}, wanted)
}

// TestJobsAreFenced: what a job writes asks whether the job is still its own.
func TestJobsAreFenced(t *testing.T) {
	s := newStage(t, openSQLite(t), nil)
	asked := make(chan [3]error, 1)
	cancel := func() error {
		_, err := s.queue.Cancel(t.Context(), s.jobs(t)[0].ID)
		return err
	}
	s.forge.open = func(ctx context.Context, _ precedent.Repo) ([]forge.PullRequest, error) {
		asked <- [3]error{forge.PassFence(ctx), cancel(), forge.PassFence(ctx)}
		return nil, ctx.Err()
	}
	needs.NoError(t, s.queue.Want(t.Context(), queue.Task{Kind: queue.CheckCI, Repo: shop, Head: sha(1), Reason: "x"}))
	needs.NoError(t, s.queue.Start(t.Context()))
	got := <-asked
	if e, ok := errors.AsType[*forge.Error](got[2]); got[0] != nil || got[1] != nil || !ok || e.Kind != forge.KindFenced {
		t.Errorf("%v; after it was cancelled (%v): %v", got[0], got[1], got[2])
	}
}
