package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/store"
)

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
