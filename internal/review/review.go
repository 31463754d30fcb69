// Package review turns a change into a review: one value that can be printed,
// stored and compared.
//
// Finders read the change side by side. Then each stage looks at every finding
// and annotates it: place finds its line by its quote, identify names it, merge
// drops what is said twice, recognize finds out what stands in threads already and
// since what is new in code that was read before, verify, cite and score weigh it,
// suppress lets memory and policy speak, choose decides what is shown where. No stage
// deletes: a finding that is not shown says why, and the first reason wins. Every
// decision stands in the finding's trail. Threads that are open are answered: what
// became of their findings.
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
	"github.com/precedent-dev/precedent/internal/match"
	"github.com/precedent-dev/precedent/internal/memory"
)

// Input is everything that a review needs. Once it is made nothing is fetched
// any more, but for files of the two trees and for what the engine is asked.
type Input struct {
	Repo   precedent.Repo
	Target precedent.Target // Added and Removed are filled in from the change
	// Base and Head are the object ids of the two trees that Read reads from.
	Base, Head string
	Change     *diff.Change // classified
	// Skipped are files that belong to the change but could not be taken into it.
	Skipped []precedent.SkippedFile
	// Read returns a file of the base (LEFT) or of the head (RIGHT). It is called
	// from several goroutines.
	Read func(side precedent.Side, path string) ([]byte, error)
	// Tree returns a folder with a read-only export of the head, made on first use,
	// and Shown one for engines, which has no secret in its files.
	Tree, Shown func(ctx context.Context) (string, error)

	Guide  guide.Guide
	Policy precedent.Policy
	Recall memory.Recall
	Intent precedent.Untrusted // messages of the commits; empty if there are none
	// Discussion is what people said on the pull request; empty for a local change.
	Discussion precedent.Discussion
	// Threads are those of the pull request, in all states, carried to the head: a
	// finding that stands in one is not posted again, and each that is open gets an
	// answer. Author is who opened it; empty if nobody knows.
	Threads []precedent.Thread
	Author  precedent.ForgeID
	// Since is what an earlier review of the pull request read; nil reads everything.
	Since *Since
	// Failures are what already went wrong while the rest of the input was made.
	Failures []precedent.Failure

	// Engine reads the change with a model; nil leaves it to the analyzers.
	Engine engine.Engine
	// Threshold is the confidence in percent below which findings are not shown,
	// and ThresholdFrom says who set it. Nil leaves it to the policy, and 75.
	Threshold     *int
	ThresholdFrom string
	MaxInline     int           // findings shown inline; 0 leaves it to the policy, and 20
	Concurrency   int           // requests to the engine at a time; 0 means 4
	Window        int           // the engine's context window in tokens; 0 for a large one
	Timeout       time.Duration // of one request to the engine; 0 means the engine's default
	Go            lint.GoEnv    // where the Go toolchain is
	Linters       lint.External // programs that the operator and the policy name, and their sandbox

	Now   func() time.Time
	NewID func() string // makes the review's id, a UUIDv7
	// Planned is told, before the first request to the engine, what all of them
	// will take; it may be nil.
	Planned func(Estimate)
	// Progress is told what happens, from several goroutines; it may be nil.
	Progress func(Event)
}

// Defaults of what nobody set.
const (
	DefaultThreshold   = 75 // percent
	DefaultMaxInline   = 20 // what a person reads in one sitting
	defaultConcurrency = 4
)

// Run reviews the change. Trouble that a review can live with is in the
// review's failures, finder runs and verdict; the error is that of a cancelled
// context.
func Run(ctx context.Context, in Input) (*precedent.Review, error) {
	began := in.Now()
	in.fillDefaults()
	r := in.newReview(began)
	x := newReader(&in)
	if len(in.Change.Files) == 0 && len(in.Skipped) == 0 && len(x.threads) == 0 {
		r.Verdict = precedent.Skipped
		r.TookMS = in.Now().Sub(began).Milliseconds()
		return r, nil
	}
	r.NoEngine = in.Engine == nil
	if in.Planned != nil && in.Engine != nil {
		in.Planned(x.estimate())
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
	}
	switch {
	case asked(reports):
		r.Scope, r.RulesChecked = precedent.FullScope, x.sheet.Rules()
	case len(x.plan.before) > 0 && len(x.plan.shards) == 0: // a model read it before
		r.Scope = precedent.FullScope
	}
	x.judgeAll(ctx, r)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("review %s: %w", in.Repo, err)
	}
	r.Coverage = coverage(&in, x.plan, reports)
	r.Verdict = verdict(r, reports, in.Engine != nil)
	r.TookMS = in.Now().Sub(began).Milliseconds()
	return r, nil
}

// judgeAll runs the stages over the findings. Secrets go as soon as no stage needs
// the text of a line any more: before anything leaves for an engine again, and
// before anything is compared with what memory keeps, which holds none.
func (x *reader) judgeAll(ctx context.Context, r *precedent.Review) {
	in := x.in
	src, placer := x.src, NewPlacer(in.Change)
	named := place(r.Findings, placer, src)
	checkSuggestions(r.Findings, named, placer, in.Read)
	identify(r.Findings, src, in.Repo)
	b := newRedactor(r.Findings, src)
	b.redactFindings(r.Findings)
	merge(r.Findings, func(doubts []match.Doubt) map[int]bool {
		return x.judge(ctx, doubts, "pairs of findings, which were kept apart")
	})
	r.Findings = in.Recall.Match(r.Findings)
	x.recognize(ctx, r.Findings)
	x.markOrigins(r.Findings)
	x.verify(ctx, r.Findings, placer, src)
	cite(r.Findings, in.Guide.Rules)
	score(r.Findings)
	r.Findings = suppress(r.Findings, in.Policy, in.Recall.Rejections, r.At, *in.Threshold, x.dismissals(ctx))
	r.Threads = x.answer(ctx, r.Findings, r.Finders, b)
	choose(r.Findings, in.Change, *in.Threshold, in.ThresholdFrom, in.MaxInline)
	r.Memory.Suppressed = in.Recall.Suppressed(r.Findings)
	r.Failures = append(r.Failures, x.failures...)
	r.Usage.Add(x.usage)
	r.CostUSD += x.costUSD
	b.redactReview(r)
}

// fillDefaults fills in what was left open.
func (in *Input) fillDefaults() {
	if in.Change == nil {
		in.Change = &diff.Change{}
	}
	if in.Threshold == nil {
		in.Threshold, in.ThresholdFrom = in.Policy.Threshold, "the repository's policy"
	}
	if in.Threshold == nil {
		t := DefaultThreshold
		in.Threshold, in.ThresholdFrom = &t, "the default"
	}
	if in.MaxInline <= 0 {
		in.MaxInline = in.Policy.MaxInline
	}
	if in.MaxInline <= 0 {
		in.MaxInline = DefaultMaxInline
	}
	if in.Concurrency <= 0 {
		in.Concurrency = defaultConcurrency
	}
	in.Recall.Former = map[string]string{}
	for i := range in.Change.Files {
		if f := &in.Change.Files[i]; f.Status == diff.Renamed {
			in.Recall.Former[f.Path] = f.OldPath
		}
	}
}

// newReview returns the review as far as the input alone decides it.
func (in *Input) newReview(at time.Time) *precedent.Review {
	target := in.Target
	target.Added, target.Removed = in.Change.Added, in.Change.Removed
	return &precedent.Review{
		Schema:    precedent.ResultSchema,
		ID:        in.NewID(),
		Repo:      in.Repo,
		Base:      in.Base,
		Head:      in.Head,
		Scope:     precedent.AnalyzersScope,
		Threshold: *in.Threshold,
		Memory:    precedent.MemoryUse{Hotspots: in.Recall.Hotspots},
		Failures:  slices.Clone(in.Failures),
		At:        at,
		Target:    target,
	}
}

func (in *Input) progress(e Event) {
	if in.Progress != nil {
		in.Progress(e)
	}
}

// asked tells whether an engine was asked to read anything.
func asked(reports []Report) bool {
	for _, rep := range reports {
		if len(rep.Answered) > 0 {
			return true
		}
	}
	return false
}
