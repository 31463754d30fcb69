package eval

import (
	"context"
	"hash/fnv"
	"math/rand/v2"

	"github.com/precedent-dev/precedent/internal/git"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/run"
	"github.com/precedent-dev/precedent/internal/workspace"
)

// maxHistory is how many commits of a repository ranges are drawn from, newest first.
const maxHistory = 1_000_000

// One range in wideEvery has several commits, as a branch has: from 2 to mostWide.
const (
	wideEvery = 8
	mostWide  = 20
)

// noiseRange is a range of a repository's first-parent history.
type noiseRange struct{ base, head string }

func (r noiseRange) text() string { return r.base + ".." + r.head }

// drawRanges draws ranges from a history, newest first: different heads, each against
// its first parent, and some against an earlier ancestor. The oldest commit has no
// parent to compare it with. The draw depends on the history and the seed only.
func drawRanges(history []string, n int, seed uint64) []noiseRange {
	heads := len(history) - 1
	if heads < 1 {
		return nil
	}
	rng := seeded(seed, history[0])
	var ranges []noiseRange
	for i, at := range rng.Perm(heads)[:min(n, heads)] {
		width := 1
		if i%wideEvery == wideEvery-1 {
			width = 2 + rng.IntN(mostWide-1)
		}
		ranges = append(ranges, noiseRange{history[min(at+width, heads)], history[at]})
	}
	return ranges
}

// seeded returns a generator for a seed and a text.
func seeded(seed uint64, text string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(text))
	return rand.New(rand.NewPCG(seed, h.Sum64())) // draws must be repeatable, and guard nothing
}

// reviewRange reviews one range as precedent review does.
func (o *NoiseRun) reviewRange(ctx context.Context, reviewer *workspace.Env, repo *workspace.Repository, r noiseRange) rangeNoise {
	if ctx.Err() != nil {
		return rangeNoise{err: ctx.Err()}
	}
	set := *o.Settings
	threshold := review.DefaultThreshold
	set.Threshold.Value = &threshold
	set.Linters = nil
	p, err := run.PrepareLocal(ctx, reviewer, repo, git.Spec{Range: r.text()}, run.Job{Settings: &set})
	if err != nil {
		return rangeNoise{err: err}
	}
	defer p.Close()
	result, err := p.Run(ctx, run.Watch{})
	if err != nil {
		return rangeNoise{err: err}
	}
	one := rangeNoise{review: result.Review}
	for _, f := range result.Review.Live() {
		one.shown = append(one.shown, newNoiseFinding(&f, r, p.Input.Read))
	}
	return one
}
