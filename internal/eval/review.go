package eval

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/engine"
	"github.com/precedent-dev/precedent/internal/review"
)

// Reviewer reviews the changes of a data set as precedent reviews a branch, but
// without the repository around the change, its guide and its memory.
type Reviewer struct {
	Engine engine.Engine
	// Threshold is the confidence in percent from which findings are live; nil means the default of a review.
	Threshold   *int
	Window      int           // the engine's context window in tokens; 0 for a large one
	Concurrency int           // requests at a time; 0 means the default of a review
	Timeout     time.Duration // of one request; 0 means the engine's default
	Now         func() time.Time
	NewID       func() string
}

// Review runs all finders on a case. The error is that of a cancelled context; other
// errors are in the candidates.
func (v Reviewer) Review(ctx context.Context, c *Case) (Candidates, error) {
	r, err := review.Run(ctx, v.input(c))
	if err != nil {
		return Candidates{}, err
	}
	out := Candidates{
		Schema: CandidatesSchema, Case: c.Name, Sum: c.Sum, Engine: v.Engine.Info().Who,
		Verdict: r.Verdict, Threshold: r.Threshold, Findings: []Candidate{}, Finders: r.Finders, Coverage: r.Coverage,
		Failures: r.Failures, Spent: Spent{r.Usage, r.CostUSD},
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, Candidate{Finding: f, Place: f.Place, Analyzer: f.Analyzer})
	}
	return out, nil
}

func (v Reviewer) input(c *Case) review.Input {
	return review.Input{
		Repo: c.Repo, Target: precedent.Target{Head: c.Head, Base: c.Base}, Base: c.Base, Head: c.Head,
		Change: c.Change, Intent: c.Intent, Read: c.read, Engine: v.Engine, Threshold: v.Threshold,
		ThresholdFrom: "the operator", Window: v.Window, Concurrency: v.Concurrency, Timeout: v.Timeout, Now: v.Now,
		NewID: v.NewID,
	}
}
