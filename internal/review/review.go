// Package review turns a change into a review: one value that can be printed,
// stored and compared.
//
// Finders read the change side by side. Then each of the stages looks at every finding and annotates it:
//
//	place → redact → merge → recall → threads → suppress → verify →
//	cite → score → refit → weigh → answer → precedents → select
//
// No stage deletes a finding: one that is not shown has a reason, and the first reason wins. Every decision is
// recorded in the finding's trail.
//
// The same input gives the same review but for its id and times, in whatever
// order the finders end.
package review

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/diff"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/guide"
	"github.com/precedent-dev/precedent/internal/lint"
	"github.com/precedent-dev/precedent/internal/memory"
	"github.com/precedent-dev/precedent/internal/prompt"
)

// Input is everything that a review needs. Apart from files of the two trees and
// requests to the engine, nothing is fetched after it is made.
type Input struct {
	Repo   precedent.Repo
	Target precedent.Target // Added and Removed are filled in from the change
	// Base and Head are the object ids of the two trees that Read reads from.
	Base, Head string
	Change     *diff.Change // classified
	// ForgeChange is the change as the forge of the pull request computes it: only its
	// lines can have comments. Nil means Change.
	ForgeChange *diff.Change
	// Skipped are files of the change that could not be included in it.
	Skipped []precedent.SkippedFile
	// Read returns a file of the base (LEFT) or of the head (RIGHT). It is called
	// from several goroutines.
	Read func(side precedent.Side, path string) ([]byte, error)
	// Tree returns a folder with a read-only export of the head, made on first use.
	// Shown returns one for engines, with secrets removed from its files.
	// ShownBase returns one of the base.
	Tree, Shown, ShownBase func(ctx context.Context) (string, error)

	Guide  guide.Guide
	Policy precedent.Policy
	// OwnPolicy tells that Policy is the uncommitted one of the work tree.
	OwnPolicy bool
	Recall    memory.Recall
	// Precedents find what people wrote on earlier pull requests.
	Precedents Precedents
	Intent     precedent.Untrusted // messages of the commits; empty if there are none
	// Discussion is what people said on the pull request; empty for a local change.
	Discussion precedent.Discussion
	// Threads are those of the pull request, in all states, or findings of Last, relocated
	// to the head. A finding that has a thread is not posted again, and each open thread
	// gets an answer. Author opened the pull request; empty if unknown.
	Threads []precedent.Thread
	Author  precedent.ForgeID
	// Since is what an earlier review of the same change read; with nil, everything
	// is read.
	Since *Since
	// Last is the last review of the same local work, whose live findings Threads holds; nil
	// if there is none, and for a pull request. Reading is what this review will have read.
	Last    *precedent.Review
	Reading *precedent.Reading
	// Failures are the steps that already failed while the input was prepared.
	Failures []precedent.Failure
	// Incomplete tells that files which decide about the review could not be read: the guide,
	// the policy and the attributes of the base, or the head. Then it is partial.
	Incomplete bool

	// Engine reads the change with a model; nil runs only the analyzers.
	Engine engine.Engine
	// Kept reports whether the engine has a stored answer to a task, which costs nothing;
	// nil if it has none.
	Kept func(ctx context.Context, t engine.Task) bool
	// Threshold is the confidence in percent below which findings are not shown,
	// and ThresholdFrom says who set it. Nil means the policy's, the one that Recall
	// has learned, or 75.
	Threshold     *int
	ThresholdFrom string
	tuned         bool // Threshold is the learned one
	asked         []prompt.Spec
	// secrets are those in the lines of the change.
	secrets func() *lint.Secrets
	// Deep runs all finders that the policy does not turn off.
	Deep        bool
	MaxInline   int           // findings shown inline; 0 means the policy's, or 20
	Concurrency int           // requests to the engine at a time; 0 means 4
	Window      int           // the engine's context window in tokens; 0 for a large one
	Timeout     time.Duration // of one request to the engine; 0 means the engine's default
	Go          lint.GoEnv    // where the Go toolchain is
	Trusted     lint.Trusted  // where the configuration of linters is taken from
	Linters     lint.External // programs that the operator and the policy name, and their sandbox

	Now   func() time.Time
	NewID func() string // makes the review's id, a UUIDv7
	// Planned is called before the first request to the engine with an estimate of
	// all of them; it may be nil.
	Planned func(Estimate)
	// Progress is called with each event, from several goroutines; it may be nil.
	Progress func(Event)
}

// Defaults of settings that are not set.
const (
	DefaultThreshold   = 75 // percent
	DefaultMaxInline   = 20 // what a person reads in one sitting
	defaultConcurrency = 4
)

// Run reviews the change. Problems that a review survives are in its failures,
// finder runs and verdict; the only error is that of a cancelled context.
func Run(ctx context.Context, in Input) (*precedent.Review, error) {
	began := in.Now()
	in.fillDefaults()
	r := in.newReview(began)
	x := newReader(&in)
	in.secrets = x.src.secrets
	if len(in.Change.Files) == 0 && len(in.Skipped) == 0 && len(x.threads) == 0 {
		r.Verdict = verdict(r, nil, &in)
		r.TookMS = in.Now().Sub(began).Milliseconds()
		return r, nil
	}
	r.NoEngine = in.Engine == nil
	if in.Planned != nil && in.Engine != nil {
		in.Planned(x.estimate(ctx))
	}
	reports := find(ctx, &in, finders(&in, x.specialists))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("review %s: %w", in.Repo, err)
	}
	for _, rep := range reports {
		r.Findings = append(r.Findings, rep.Findings...)
		r.Finders = append(r.Finders, rep.Run)
		r.Usage.Add(rep.Run.Usage)
		r.CostUSD += rep.Run.CostUSD
		r.Positive = cmp.Or(r.Positive, rep.Positive)
		for path, read := range rep.Files {
			x.unread[fileOf{rep.Run.Name, path}] = !read
		}
	}
	switch {
	case asked(reports):
		r.Scope, r.RulesChecked, r.Memory.Learnings = precedent.FullScope, x.sheet.Rules(), x.brief.given
		r.Memory.PrecedentUse.Shown = x.sheet.Norms()
	case len(x.plan.before) > 0 && len(x.plan.shards) == 0: // a model read it before
		r.Scope = precedent.FullScope
	}
	x.r = r
	for _, s := range stages {
		s.run(x, ctx)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("review %s: %w", in.Repo, err)
	}
	r.Coverage = coverage(&in, x.plan, reports)
	r.Verdict = verdict(r, reports, &in)
	if in.Last != nil {
		r.Threads = nil // the result has them as findings
	}
	r.TookMS = in.Now().Sub(began).Milliseconds()
	return r, nil
}

// fillDefaults sets what the caller left unset.
func (in *Input) fillDefaults() {
	if in.Change == nil {
		in.Change = &diff.Change{}
	}
	in.MaxInline = cmp.Or(max(in.MaxInline, 0), max(in.Policy.MaxInline, 0), DefaultMaxInline)
	in.fillThreshold()
	if in.Concurrency <= 0 {
		in.Concurrency = defaultConcurrency
	}
	in.asked = in.askedFinders()
	in.Recall.Former = map[string]string{}
	for i := range in.Change.Files {
		if f := &in.Change.Files[i]; f.Status == diff.Renamed {
			in.Recall.Former[f.Path] = f.OldPath
		}
	}
}

// newReview returns the review with what the input alone determines.
func (in *Input) newReview(at time.Time) *precedent.Review {
	target := in.Target
	target.Added, target.Removed = in.Change.Added, in.Change.Removed
	searched, failures := in.Precedents.use()
	return &precedent.Review{
		Schema:        precedent.ResultSchema,
		ID:            in.NewID(),
		Repo:          in.Repo,
		Base:          in.Base,
		Head:          in.Head,
		Scope:         precedent.AnalyzersScope,
		Threshold:     *in.Threshold,
		ThresholdFrom: in.ThresholdFrom,
		Memory: precedent.MemoryUse{
			Hotspots: in.Recall.Hotspots, Labels: in.Recall.Learned.Curve.Labels,
			PrecedentUse: searched,
		},
		Failures: slices.Concat(in.Failures, failures),
		At:       at,
		Target:   target,
		Reading:  in.Reading,
	}
}

func (in *Input) progress(e Event) {
	if in.Progress != nil {
		in.Progress(e)
	}
}

// asked reports whether an engine was asked to read anything.
func asked(reports []Report) bool {
	return slices.ContainsFunc(reports, func(rep Report) bool { return len(rep.Answered) > 0 })
}
