package main

import (
	"context"
	"errors"
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
