package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/queue"
	"github.com/precedent-dev/precedent/internal/store"
)

// job is the command of stories about the jobs of a server:
//
//	job DB REPO PULL HEAD fails PROBLEM
//	job DB REPO PULL HEAD waits
//	job DB REPO PULL HEAD succeeds
//
// wants a review in the database of a server; a server runs what is ready, and all of it fails
// for good or succeeds, or none does.
func job(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 5 {
		ts.Fatalf("usage: job DB REPO PULL HEAD fails PROBLEM|waits|succeeds")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := store.Open(ctx, ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	defer db.Close()
	repo, err := precedent.ParseRepo(args[1])
	ts.Check(err)
	pull, err := strconv.Atoi(args[2])
	ts.Check(err)
	q, err := queue.Open(ctx, db, queue.Options{Poll: 20 * time.Millisecond, Do: func(context.Context, *queue.Run) error {
		if args[4] == "fails" {
			return queue.Never(errors.New(args[5]))
		}
		return nil
	}})
	ts.Check(err)
	_, err = q.Accept(ctx, queue.Delivery{Forge: "github", ID: args[2] + args[3], Event: "push"},
		[]queue.Task{{Kind: queue.Review, Repo: repo, Pull: pull, Head: args[3], Reason: "push"}})
	ts.Check(err)
	if args[4] != "waits" {
		ts.Check(q.Start(ctx))
		for {
			s, err := q.Stats(ctx)
			ts.Check(err)
			if k := s.Kinds[queue.Review]; k.Ready+k.Running == 0 {
				break
			}
			<-time.After(10 * time.Millisecond)
		}
	}
	ts.Check(q.Stop(ctx))
}

// answered is the command of stories that need a long past:
//
//	answered DB REPO N OUTCOME CONFIDENCE
//	answered DB REPO reset
//
// stores the outcome of N further findings of the finder bugs that were posted with
// the confidence, by somebody with write permission; or resets the threshold.
func answered(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 5 && (len(args) != 3 || args[2] != "reset") {
		ts.Fatalf("usage: answered DB REPO N OUTCOME CONFIDENCE, or DB REPO reset")
	}
	ctx := context.Background()
	db, err := store.Open(ctx, ts.MkAbs(args[0]), store.Options{})
	ts.Check(err)
	defer db.Close()
	id, err := precedent.ParseRepo(args[1])
	ts.Check(err)
	rows, err := db.RepoFor(ctx, id)
	ts.Check(err)
	if len(args) == 3 {
		ts.Check(rows.ResetThreshold(ctx, time.Now()))
		return
	}
	n, err1 := strconv.Atoi(args[2])
	confidence, err2 := strconv.Atoi(args[4])
	ts.Check(err1)
	ts.Check(err2)
	ts.Check(rows.SaveOutcomes(ctx, outcomes(n, precedent.OutcomeKind(args[3]), confidence, time.Now())))
}

// outcomes are of n findings, by somebody with write permission.
func outcomes(n int, kind precedent.OutcomeKind, confidence int, at time.Time) []precedent.Outcome {
	all := make([]precedent.Outcome, n)
	for i := range all {
		all[i] = precedent.Outcome{
			Fingerprint: fmt.Sprint(kind, " ", i), PullRequest: 99, Kind: kind, MayWrite: true, Finder: "bugs",
			Category: precedent.Bugs, Severity: precedent.Medium, Confidence: confidence, At: at,
		}
	}
	return all
}
