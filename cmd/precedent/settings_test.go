package main

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/git"
)

// The prices of the operator's file are what a review books.
func TestPricesOfTheOperator(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	repo := defectiveRepository(t, home, "repo")
	s := serveModel(t, `{"findings":[]}`)
	if run := bugsRun(t, parseReview(t, modelReview(s, home, repo), 1)); run.Status != precedent.StatusEmpty || run.CostUSD != 0 {
		t.Errorf("without a price: %+v", run)
	}
	dir := filepath.Join(home, ".config", "precedent")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	config := "prices: {scripted: {input: 10, cached: 1, output: 20}}\nmax_cost: 100\n"
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// A request takes 600 tokens of input, 400 from the cache, and 50 of output.
	const want = (600*10 + 400*1 + 50*20) / 1e6
	run := bugsRun(t, parseReview(t, modelReview(s, home, repo, "--again"), 1))
	if run.Status != precedent.StatusEmpty || math.Abs(run.CostUSD-want) > 1e-9 {
		t.Errorf("%s, cost %g, want %g", run.Status, run.CostUSD, want)
	}
}

// What the operator says about the engine's size reaches the review.
func TestNumbersOfTheOperator(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	env := map[string]string{"HOME": home, "PATH": os.Getenv("PATH"), "PRECEDENT_CONCURRENCY": "3", "PRECEDENT_CONTEXT": "8000"}
	a := &app{dir: defectiveRepository(t, home, "repo"), env: env, now: time.Now, out: io.Discard, err: io.Discard, quiet: true}
	for _, test := range []struct {
		flags                       map[string]string
		window, concurrency, inline int
	}{
		{nil, 8000, 3, 0},
		{map[string]string{"context": "4000", "concurrency": "1", "max-inline": "5"}, 4000, 1, 5},
	} {
		op, err := a.settings(test.flags)
		if err != nil {
			t.Fatal(err)
		}
		repo, err := a.openRepository(t.Context(), op)
		if err != nil {
			t.Fatal(err)
		}
		defer repo.Close()
		job, err := a.job(op, reviewOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := a.workflow().PrepareLocal(t.Context(), repo, git.Spec{}, job)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if in := p.Input; in.Window != test.window || in.Concurrency != test.concurrency || in.MaxInline != test.inline {
			t.Errorf("flags %v: window %d, concurrency %d, inline %d", test.flags, in.Window, in.Concurrency, in.MaxInline)
		}
	}
}
