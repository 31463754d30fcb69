package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine/enginetest"
	"github.com/precedent-dev/precedent/internal/forge/forgetest"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/needs"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/sandbox"
	"github.com/precedent-dev/precedent/internal/store"
)

// TestMain makes the test binary the program and scripted engines, too: tests start it under these names, and sandboxes
// from inside.
func TestMain(m *testing.M) {
	sandbox.Main()
	if os.Getenv(lint.VetEnv) == "1" {
		main()
	}
	// Stories have no process in the background, unless they want one.
	if os.Getenv("PRECEDENT_CONSOLIDATION") == "" {
		_ = os.Setenv("PRECEDENT_CONSOLIDATION", "off") // the name is valid
	}
	testscript.Main(m, programs)
}

// programs are what the test binary is under other names.
var programs = map[string]func(){"precedent": tried, "scripted": enginetest.Main}

// TestScript plays the stories in testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"answered": answered, "job": job,
			"exits":   needs.Exits,
			"expand":  needs.Expand,
			"finding": finding,
			"forge":   playForge(t),
			"listing": listing,
			"pasted":  pasted,
			"talk":    talk,
		},
	})
}

// condition knows [sandbox], whether this machine can make one, and [judged],
// whether it has what judges requests to GitHub. Under make test it has to.
func condition(name string) (bool, error) {
	has := map[string]func() bool{"judged": forgetest.Judged, "sandbox": hasSandbox}[name]
	switch {
	case has == nil:
		return false, fmt.Errorf("unknown condition %q", name)
	case has():
		return true, nil
	case needs.All() && !needs.Off("PRECEDENT_TEST_SANDBOX"):
		return false, fmt.Errorf("this machine is not %s (make deps)", name)
	}
	return false, nil
}

var hasSandbox = sync.OnceValue(func() bool {
	_, err := sandbox.Probe(context.Background(), os.Getenv("PATH"))
	return err == nil
})

// setup gives a story a home of its own, an identity for git, and the defects
// that no file of this repository may hold in plain.
func setup(e *testscript.Env) error {
	e.Defer(func() { decideAgain(e) })
	e.Defer(func() { checkPrinted(e) })
	schemas, err := filepath.Abs(jsonSchemas)
	if err != nil {
		return err
	}
	e.Setenv(schemasVariable, schemas)
	e.Setenv(storyFolder, e.WorkDir)
	e.Setenv("GOCACHE", goCache())
	e.Setenv("USER", "dana")
	e.Setenv("GIT_AUTHOR_DATE", "2026-01-05T09:00:00Z")
	e.Setenv("GIT_COMMITTER_DATE", "2026-01-05T09:00:00Z")
	e.Setenv("AWSKEY", "AKIA"+"QYLPMN5HFIQR7XYA")
	e.Setenv("RLO", "\u202e")
	return needs.Home(e)
}

// decideAgain checks each review that a story has stored: decided again from what is stored
// with it, it shows the same.
func decideAgain(e *testscript.Env) {
	t, ok := e.T().(interface{ Errorf(string, ...any) })
	if !ok {
		panic("no test to fail")
	}
	err := filepath.WalkDir(e.WorkDir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".db" {
			return nil
		}
		db, err := store.Open(context.Background(), path, store.Options{})
		if err != nil {
			return nil // stories damage some
		}
		defer db.Close()
		repos, err := db.Repos(context.Background())
		for _, rows := range repos {
			for r, err := range rows.ReviewsSince(context.Background(), time.Time{}, 1_000) {
				if err != nil || len(r.Findings) == 0 {
					continue
				}
				again, err := review.DecideAgain(r, r.Basis)
				if err != nil {
					t.Errorf("%s: review %s: %v", path, r.ID, err)
				}
				for i, f := range again.Findings {
					was := r.Findings[i]
					if f.ID != was.ID || f.Placement != was.Placement || f.Confidence != was.Confidence || f.DroppedWhy != was.DroppedWhy || !slices.Equal(f.Trail, was.Trail) {
						t.Errorf("%s: review %s: decided again, finding %s is\n%+v, not\n%+v", path, r.ID, f.ID, f, was)
					}
				}
			}
		}
		return err
	})
	if err != nil {
		t.Errorf("%v", err)
	}
}

// goCache is the real one: building the standard library anew for each story
// would take minutes.
var goCache = sync.OnceValue(func() string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// result reads the review that a program printed as JSON.
func result(ts *testscript.TestScript, file string) precedent.Review {
	var r precedent.Review
	if err := json.Unmarshal([]byte(ts.ReadFile(file)), &r); err != nil {
		ts.Fatalf("%s is not a review: %v\n%s", file, err, ts.ReadFile(file))
	}
	return r
}

// finding VARIABLE PATTERN: sets the variable to the id of the only finding of
// the JSON on standard output whose finder, place and title fit the pattern.
func finding(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: finding VARIABLE PATTERN")
	}
	pattern, err := regexp.Compile(args[1])
	ts.Check(err)
	var ids []string
	for _, f := range result(ts, "stdout").Findings {
		if pattern.MatchString(f.Finder + " " + f.String() + " " + f.Title) {
			ids = append(ids, f.ID)
		}
	}
	if len(ids) != 1 {
		ts.Fatalf("%d findings fit %q", len(ids), args[1])
	}
	ts.Setenv(args[0], ids[0])
}

// listing FILE DST: writes what matters of the review in FILE as a line a finding, sorted, a line an analyzer that is
// not off and did not come out empty, and a line for the outcome. Confidences are left out, so that no story depends on
// one by accident. Every analyzer must have a status.
func listing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: listing FILE DST")
	}
	r := result(ts, args[0])
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s\n", f.String(), f.Finder, f.Severity, f.Category,
			cmp.Or(f.Dropped, "live"), f.Placement))
	}
	slices.Sort(lines)
	var b bytes.Buffer
	b.WriteString(strings.Join(lines, ""))
	for _, a := range lint.All() {
		i := slices.IndexFunc(r.Finders, func(f precedent.FinderRun) bool { return f.Name == a.Name })
		if i < 0 {
			ts.Fatalf("no status of %s", a.Name)
		}
		if s := r.Finders[i].Status; s != precedent.StatusEmpty && s != precedent.StatusOff {
			fmt.Fprintf(&b, "%s %s\n", a.Name, s)
		}
	}
	fmt.Fprintf(&b, "%s %s %d\n", r.Verdict, r.Scope, r.Threshold)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o644))
}
