package review

import (
	"context"
	"fmt"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// finder produces findings about a change: a prompted specialist, which asks an engine, or an analyzer, which
// computes.
type finder struct {
	name     string
	analyzer bool
	// find reads the change. Problems are in the report's run, so that one finder never stops another.
	find func(context.Context) Report
}

// Report is what one finder brings back.
type Report struct {
	Findings []precedent.Finding
	Run      precedent.FinderRun
	// Answered tells for each shard of the plan whether its request got a valid
	// answer. It is empty if no engine was asked.
	Answered []bool
	// Analyzer tells that the finder computes. Files are then those that it had to read,
	// with whether it did; nil means all, which were read if it succeeded.
	Analyzer bool
	Files    map[string]bool
	// NotChecked lists what an analyzer could not load.
	NotChecked []precedent.NotChecked
	// Positive is what the finder likes about the change; it may be empty.
	Positive string
}

// hasRead reports whether an analyzer has read a file.
func (r *Report) hasRead(path string) bool {
	if r.Files == nil {
		return r.Analyzer && r.Run.Status.Good()
	}
	return r.Files[path]
}

// failedOn reports whether an analyzer had to read a file and failed.
func (r *Report) failedOn(path string) bool {
	_, due := r.Files[path]
	return r.Analyzer && r.Run.Status.Bad() && (due || r.Files == nil) && !r.hasRead(path)
}

// Event is a step of a review: a finder, or after the finders a stage that asks the
// engine, starts, sends a request, gets an answer, or ends.
type Event struct {
	Finder string
	// Step is "verify", "judge" or "threads" for the stages after the finders, which leave
	// Finder empty, and "" for finders.
	Step string
	// Done of Requests have ended, well or not; both are 0 for analyzers.
	Done, Requests int
	Failed         bool // this event's request of a step has no usable answer
	// Usage and CostUSD are those of this event's request; zero for other events.
	Usage   precedent.Usage
	CostUSD float64
	// Run is set when the finder has ended.
	Run *precedent.FinderRun
}

// finders returns the finders: the specialists that this review asks, of which the first leads the others, then
// the analyzers.
func finders(in *Input, w *specialists) []finder {
	var all []finder
	for i, spec := range in.asked {
		s := &specialist{in: in, spec: spec, specialists: w, lead: i == 0, number: i}
		all = append(all, finder{name: spec.Name, find: s.find})
	}
	for _, spec := range prompt.Finders() {
		if !in.enabled(spec.Name) { // the result says so
			all = append(all, finder{name: spec.Name})
		}
	}
	w.trial = newTrial(len(in.asked), len(w.plan.shards), in.Concurrency)
	for _, a := range lint.All() {
		all = append(all, finder{a.Name, true, func(ctx context.Context) Report { return in.analyze(ctx, a) }})
	}
	return all
}

// find runs the finders concurrently and returns their reports in the order of
// all.
func find(ctx context.Context, in *Input, all []finder) []Report {
	reports := make([]Report, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() {
			in.progress(Event{Finder: f.name})
			reports[i] = f.run(ctx, in)
			run := reports[i].Run
			in.progress(Event{Finder: f.name, Run: &run})
		})
	}
	wg.Wait()
	return reports
}

// offByPolicy is the error of a finder that the policy turned off.
const offByPolicy = "turned off by the repository's policy"

// run runs the finder, unless the policy turned it off. A panic, which a hostile file may cause in a parser, becomes
// the error of its run.
func (f finder) run(ctx context.Context, in *Input) (r Report) {
	began := in.Now()
	defer func() {
		if p := recover(); p != nil {
			r = Report{Run: precedent.FinderRun{Status: precedent.StatusError, Error: fmt.Sprintf("crashed: %v", p)}}
		}
		if r.Analyzer = f.analyzer; r.Analyzer && r.Run.Status.Bad() {
			r.Run.Engine = precedent.AnalyzerEngine // also if it crashed
		}
		r.Run.Name = f.name
		r.Run.TookMS = in.Now().Sub(began).Milliseconds()
		r.Run.Found = len(r.Findings)
		for i := range r.Findings {
			r.Findings[i].Finder = f.name
			r.Findings[i].Votes = 1
		}
	}()
	if !in.enabled(f.name) {
		return Report{Run: precedent.FinderRun{Status: precedent.StatusOff, Error: offByPolicy}}
	}
	return f.find(ctx)
}

// Names returns the names of all finders, as a policy uses them.
func Names() []string {
	var names []string
	for _, spec := range prompt.Finders() {
		names = append(names, spec.Name)
	}
	for _, a := range lint.All() {
		names = append(names, a.Name)
	}
	return names
}
