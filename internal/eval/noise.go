package eval

import (
	"context"
	"log/slog"
	"sync"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/settings"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// Defaults of eval noise.
const (
	NoiseRanges = 40  // for each repository
	NoiseSample = 100 // an interval of 16 points around a share of 80 %
)

// NoiseRun reviews ranges of the history of repositories without a model, to measure
// what the analyzers say about everyday changes.
type NoiseRun struct {
	Reviewer *workspace.Env
	Settings *settings.Settings
	Ranges   int // for each repository
	Jobs     int // ranges at a time
	Seed     uint64
	Out      string // the file for the sample; empty for none
	Sample   int    // the number of shown findings in it
	Notice   func(format string, args ...any)
}

// Noise is what the analyzers found in ranges of repositories.
type Noise struct {
	Seed   uint64      `json:"seed"`
	Repos  []NoiseRepo `json:"repos"`
	Ranges int         `json:"ranges"` // reviewed
	Added  int         `json:"added_lines"`
	Found  int         `json:"findings"`
	Shown  int         `json:"shown"`
	// Serious counts the shown findings of high or critical severity.
	Serious   int            `json:"shown_serious"`
	Rules     []RuleNoise    `json:"rules"` // the most shown first
	Coverage  NoiseCoverage  `json:"coverage"`
	Analyzers []AnalyzerEnds `json:"analyzers"` // that were to run and did not end well
	Failed    []FailedRange  `json:"failed"`
	Sampled   int            `json:"sampled"`
}

// NoiseRepo is the contribution of one repository.
type NoiseRepo struct {
	Dir    string `json:"dir"`
	Head   string `json:"head"`
	Ranges int    `json:"ranges"` // drawn
	// Drawn lists the ranges, so that each can be reviewed again.
	Drawn []string `json:"drawn"`
	Added int      `json:"added_lines"`
	Found int      `json:"findings"`
	Shown int      `json:"shown"`
}

// RuleNoise counts the findings of one rule with one severity.
type RuleNoise struct {
	Analyzer string             `json:"analyzer"`
	Rule     string             `json:"rule"`
	Severity precedent.Severity `json:"severity"`
	Found    int                `json:"findings"`
	Shown    int                `json:"shown"`
	Ranges   int                `json:"ranges"` // with at least one that is shown
	// FoundRate and ShownRate are per thousand added lines.
	FoundRate float64 `json:"findings_per_1000_lines"`
	ShownRate float64 `json:"shown_per_1000_lines"`
}

// NoiseCoverage sums up what of the ranges was read.
type NoiseCoverage struct {
	Files     int           `json:"files"`
	Hunks     int           `json:"hunks"`
	HunksRead int           `json:"hunks_read"`
	Skipped   []ReasonCount `json:"skipped"`   // files
	Truncated []ReasonCount `json:"truncated"` // hunks
}

// ReasonCount says how often a reason was given.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// AnalyzerEnds counts the ranges in which an analyzer ended in one way.
type AnalyzerEnds struct {
	Analyzer string           `json:"analyzer"`
	Status   precedent.Status `json:"status"`
	Reason   string           `json:"reason"`
	Ranges   int              `json:"ranges"`
}

// FailedRange is a range that could not be reviewed.
type FailedRange struct {
	Dir   string `json:"dir"`
	Range string `json:"range"`
	Error string `json:"error"`
}

// Whole reports whether every range was reviewed.
func (n *Noise) Whole() bool { return len(n.Failed) == 0 }

// rangeNoise is what the review of one range brought.
type rangeNoise struct {
	review *precedent.Review
	shown  []NoiseFinding
	err    error
}

// MeasureNoise reviews ranges of the repositories in dirs as precedent review does,
// without a model, a memory and linters, and writes a sample of what is shown.
func MeasureNoise(ctx context.Context, dirs []string, o NoiseRun) (Noise, error) {
	n := Noise{Seed: o.Seed}
	sums := newNoiseSums()
	var shown []NoiseFinding
	for _, dir := range dirs {
		repo, found, err := o.repository(ctx, dir, &n, sums)
		if err != nil {
			return n, err
		}
		n.Repos = append(n.Repos, repo)
		shown = append(shown, found...)
		o.Notice("%s: %s, %s of new code, %s, %d shown", dir, plural(repo.Ranges, "range"), plural(repo.Added, "line"), plural(repo.Found, "finding"), repo.Shown)
	}
	sums.into(&n)
	if o.Out == "" {
		return n, nil
	}
	sample := drawSample(shown, o.Sample, o.Seed)
	n.Sampled = len(sample)
	return n, writeSample(o.Out, n.population(), sample)
}

// repository reviews the ranges of one repository.
func (o *NoiseRun) repository(ctx context.Context, dir string, n *Noise, sums *noiseSums) (NoiseRepo, []NoiseFinding, error) {
	reviewer := *o.Reviewer
	reviewer.Log = slog.New(slog.DiscardHandler) // each range would repeat the same notices
	repo, err := reviewer.OpenRepository(ctx, workspace.Location{Dir: dir, Forget: true})
	if err != nil {
		return NoiseRepo{}, nil, err
	}
	defer repo.Close()
	history, err := repo.Git.FirstParents(ctx, "HEAD", maxHistory)
	if err != nil {
		return NoiseRepo{}, nil, err
	}
	ranges := drawRanges(history, o.Ranges, o.Seed)
	sum := NoiseRepo{Dir: dir, Head: history[0], Ranges: len(ranges)}
	for _, r := range ranges {
		sum.Drawn = append(sum.Drawn, r.text())
	}
	results := make([]rangeNoise, len(ranges))
	var wg sync.WaitGroup
	places := make(chan struct{}, o.Jobs)
	for i := range ranges {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			results[i] = o.reviewRange(ctx, &reviewer, repo, ranges[i])
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return sum, nil, ctx.Err()
	}
	var shown []NoiseFinding
	for i, one := range results {
		if one.err != nil {
			n.Failed = append(n.Failed, FailedRange{dir, ranges[i].text(), one.err.Error()})
			continue
		}
		sums.add(one.review)
		for _, f := range one.shown {
			f.Repo = dir
			shown = append(shown, f)
		}
		n.Ranges++
		sum.Added += one.review.Target.Added
		sum.Found += len(one.review.Findings)
		sum.Shown += len(one.shown)
	}
	n.Added += sum.Added
	n.Found += sum.Found
	n.Shown += sum.Shown
	return sum, shown, nil
}
