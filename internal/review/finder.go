package review

import (
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// Finder produces findings about a change. There are two kinds: a prompted
// specialist, which asks an engine, and an analyzer, which computes.
type Finder interface {
	Name() string
	// Find reads the change. What went wrong is in the report's run, so that
	// one finder's trouble never stops another.
	Find(ctx context.Context, in *Input) Report
}

// Report is what one finder brings back.
type Report struct {
	Findings []precedent.Finding
	Run      precedent.FinderRun
	// Answered tells for each shard of the plan whether the request that carried
	// it was validly answered. It is empty if no engine was asked.
	Answered []bool
	// Positive is what the finder likes about the change; it may be empty.
	Positive string
}

// Event is a step of a review: a finder begins, sends a request, has one
// answered, or ends; after the finders, a stage that asks the engine does.
type Event struct {
	Finder string
	// Step is "verify", "judge" or "threads" for the stages after the finders, which leave
	// Finder empty, and "" for finders.
	Step string
	// Done of Requests have ended, well or not; both are 0 for analyzers.
	Done, Requests int
	// Usage and CostUSD are what this event's request took; zero for the others.
	Usage   precedent.Usage
	CostUSD float64
	// Run is set when the finder has ended.
	Run *precedent.FinderRun
}

// finders returns all finders: the prompted ones, then the analyzers. The first
// prompted one that has something to do leads the others.
func finders(in *Input, w *specialists) []Finder {
	var all []Finder
	asked := 0
	for _, spec := range prompt.Finders() {
		s := &specialist{spec: spec, specialists: w, lead: asked == 0, number: asked}
		if _, why := s.idle(in); why == "" {
			asked++
		}
		all = append(all, s)
	}
	w.trial = newTrial(asked, len(w.plan.shards), in.Concurrency)
	for _, a := range lint.All() {
		all = append(all, analyzer{a})
	}
	return all
}

// find runs the finders side by side and returns their reports in their order,
// whichever ends first.
func find(ctx context.Context, in *Input, all []Finder) []Report {
	reports := make([]Report, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() {
			in.progress(Event{Finder: f.Name()})
			reports[i] = runFinder(ctx, in, f)
			run := reports[i].Run
			in.progress(Event{Finder: f.Name(), Run: &run})
		})
	}
	wg.Wait()
	return reports
}

// offByPolicy is why a finder is off that the policy names.
const offByPolicy = "turned off by the repository's policy"

// runFinder runs one finder, unless the policy turned it off. One that panics,
// which a hostile file can bring a parser to, ends in an error like one that
// failed.
func runFinder(ctx context.Context, in *Input, f Finder) (r Report) {
	began := in.Now()
	defer func() {
		if p := recover(); p != nil {
			r = Report{Run: precedent.FinderRun{Status: precedent.StatusError, Error: fmt.Sprintf("crashed: %v", p)}}
		}
		r.Run.Name = f.Name()
		r.Run.TookMS = in.Now().Sub(began).Milliseconds()
		r.Run.Found = len(r.Findings)
		for i := range r.Findings {
			r.Findings[i].Finder = f.Name()
			r.Findings[i].Votes = 1
		}
	}()
	if !in.enabled(f.Name()) {
		return Report{Run: precedent.FinderRun{Status: precedent.StatusOff, Error: offByPolicy}}
	}
	return f.Find(ctx, in)
}

// Names returns the names of all finders, as a policy turns them on and off.
func Names() []string {
	var names []string
	for _, f := range finders(&Input{}, &specialists{plan: &plan{}}) {
		names = append(names, f.Name())
	}
	return names
}
