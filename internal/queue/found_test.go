package queue

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestFoundRestartsDeadLetters: what a poll found and a period that begins restart a dead letter, as
// a delivery does; what is only wanted once more does not.
func TestFoundRestartsDeadLetters(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		ran := make(chan struct{}, 10)
		q := started(t, db, Options{Do: func(context.Context, *Run) error {
			ran <- struct{}{}
			return Never(errors.New("it cannot be done"))
		}})
		reply := Task{Kind: Reply, Repo: app, Pull: 1}
		for range 2 {
			must(t, q.Found(t.Context(), reply))
			<-ran
			needs.WaitUntil(t, "it is dead", func() bool { return only(t, q).State == Dead })
			if err := q.Want(t.Context(), reply); err != nil || only(t, q).State != Dead {
				t.Errorf("%v, wanted again: %+v", err, only(t, q))
			}
		}
	})
}

// TestPeriodRestartsDeadLetters: work of the server that failed for good runs again in the next
// period.
func TestPeriodRestartsDeadLetters(t *testing.T) {
	onEngines(t, func(t *testing.T, db *store.DB) {
		fail := make(chan error, 1)
		fail <- Never(errors.New("the disk is full"))
		ran := make(chan struct{}, 10)
		q := opened(t, db, Options{Do: func(context.Context, *Run) error {
			ran <- struct{}{}
			select {
			case err := <-fail:
				return err
			default:
				return nil
			}
		}})
		q.Every(Prune, 100*time.Millisecond)
		must(t, q.Start(t.Context()))
		<-ran
		<-ran
		needs.WaitUntil(t, "it ends well", func() bool { return jobs(t, q)[0].State == Done })
	})
}

// TestFoundMany: a poll of a repository may find thousands of pull requests.
func TestFoundMany(t *testing.T) {
	q := opened(t, openAt(t, engines[0].place(t)), Options{})
	var tasks []Task
	for n := range 2*maxTasks + 1 {
		tasks = append(tasks, review(app, n+1, "a"))
	}
	must(t, q.Found(t.Context(), tasks...))
	if stats, err := q.Stats(t.Context()); err != nil || stats.Kinds[Review].Ready != len(tasks) {
		t.Errorf("%v, %+v", err, stats)
	}
}

// TestFailureIsLogged: a job that fails says why in the log, without the secrets of the operator.
func TestFailureIsLogged(t *testing.T) {
	var log strings.Builder
	q := &Queue{
		o: Options{
			Log: slog.New(slog.NewTextHandler(&log, nil)), MaxAttempts: 8, Random: func() float64 { return 0 },
			Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "…") },
			Do:     func(context.Context, *Run) error { return errors.New("no engine answers hunter2") },
		},
	}
	r := &Run{Task: Task{Kind: Review}, ID: 17, Attempt: 3, queue: q, work: store.Work{Kind: "review", Repo: app.String()}}
	if err := q.run(t.Context(), r); err == nil {
		t.Error("no error")
	}
	for _, want := range []string{"level=WARN", "job failed", "job=17", "attempt=3", `error="no engine answers …"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in:\n%s", want, log.String())
		}
	}
}
