package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/review"
	"github.com/precedent-dev/precedent/internal/store"
)

// ReplaySchema names the version of the JSON form of a Replay.
const ReplaySchema = "precedent.replay/1"

// ReplayOptions say which reviews are replayed, and how.
type ReplayOptions struct {
	Since     time.Time
	Threshold *int // percent; nil for that of each review
}

// Bounds of a replay.
const (
	maxReplayed = 1_000 // reviews, the newest
	maxReplays  = 200   // findings that are listed
)

// Replay compares what past reviews showed with what they would have shown with the present memory.
type Replay struct {
	Schema  string    `json:"schema"`
	Since   time.Time `json:"since"`
	Reviews int       `json:"reviews"`
	// Undecided counts the reviews that do not hold what their decisions were made from.
	Undecided int `json:"undecided_reviews"`
	Findings  int `json:"findings"` // each counts once in a pull request
	// Then and Now are the findings that are shown.
	Then ReplayCount `json:"then"`
	Now  ReplayCount `json:"now"`
	// Changed are the findings that are shown only then or only now, the worst first.
	Changed []Replayed `json:"changed"`
	// HiddenAccepted counts those that people accepted and that would be hidden now.
	HiddenAccepted int `json:"hidden_accepted"`
	// Unknown counts findings that would be shown now if a verifier confirmed them.
	Unknown int `json:"unknown"`
}

// ReplayCount counts shown findings, and what people said of them.
type ReplayCount struct {
	Shown    int `json:"shown"`
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
}

// String says it for people, with the share of the answered findings that they accepted.
func (c ReplayCount) String() string {
	s := Count(c.Shown, "finding", "findings") + " shown"
	if answered := c.Accepted + c.Rejected; answered > 0 {
		share := float64(c.Accepted) / float64(answered)
		s += fmt.Sprintf("; people accepted %.0f %% of %d that they answered", 100*share, answered)
	}
	return s
}

func (c *ReplayCount) add(accepted, answered bool) {
	c.Shown++
	switch {
	case answered && accepted:
		c.Accepted++
	case answered:
		c.Rejected++
	}
}

// Replayed is a finding that a replay shows differently.
type Replayed struct {
	PullRequest int                   `json:"pull_request"` // 0 for a local change
	Finding     string                `json:"finding"`
	Title       string                `json:"title"`
	Severity    precedent.Severity    `json:"severity"`
	Outcome     precedent.OutcomeKind `json:"outcome"` // empty if there is none
	Before      precedent.Fate        `json:"before"`
	After       precedent.Fate        `json:"after"`
	Unknown     string                `json:"unknown"` // why After is not known without a model

	fingerprint string
}

// replayKey identifies a finding of a pull request, or of all local changes.
type replayKey struct {
	pull        int
	fingerprint string
}

// ReplayStored decides the stored reviews again with the dismissals that hold now, and compares
// with what people did. It asks no engine, posts nothing and stores nothing.
func (w *Workspace) ReplayStored(ctx context.Context, o ReplayOptions) (Replay, error) {
	out := Replay{Schema: ReplaySchema, Since: o.Since, Changed: []Replayed{}}
	dismissals, err := w.Memory.Dismissals(ctx)
	if err != nil {
		return out, err
	}
	learnings, err := w.Memory.Learnings(ctx, precedent.LearningActive)
	if err != nil {
		return out, err
	}
	outcomes, err := w.Memory.Rows.OutcomesSince(ctx, time.Time{})
	if err != nil {
		return out, err
	}
	became := map[replayKey]precedent.Outcome{}
	for _, x := range outcomes {
		became[replayKey{x.PullRequest, x.Fingerprint}] = x
	}
	seen := map[replayKey]*Replayed{}
	for r, err := range w.Memory.Rows.ReviewsSince(ctx, o.Since, maxReplayed) {
		if err != nil {
			return out, err
		}
		out.Reviews++
		again, err := w.replayOne(r, dismissals, learnings, o)
		if errors.Is(err, review.ErrNoBasis) {
			if len(r.Findings) > 0 { // without, there was nothing to decide
				out.Undecided++
			}
			continue
		}
		if err != nil {
			return out, err
		}
		for _, f := range again {
			key := replayKey{f.PullRequest, f.fingerprint}
			if was := seen[key]; was == nil || was.Before.Dropped != "" && f.Before.Dropped == "" {
				f.Outcome = became[key].Kind
				seen[key] = &f
			}
		}
	}
	out.count(seen, became)
	return out, nil
}

// replayOne returns how a review and its repetition show each finding.
func (w *Workspace) replayOne(r *precedent.Review, dismissals []precedent.Dismissal, learnings []precedent.Learning,
	o ReplayOptions,
) ([]Replayed, error) {
	if r.Basis == nil {
		return nil, review.ErrNoBasis
	}
	basis := *r.Basis
	if o.Threshold != nil {
		basis.Threshold, basis.ThresholdFrom, basis.Tuned = *o.Threshold, "the replay", false
	}
	d, err := review.DecideNow(r, &basis, dismissals, learnings, w.Memory.Now())
	if err != nil {
		return nil, err
	}
	number := 0
	if r.PullRequest != nil {
		number = *r.PullRequest
	}
	var all []Replayed
	for _, p := range review.Pairs(r, d) {
		all = append(all, Replayed{
			PullRequest: number, Finding: p.Finding.ID, Title: p.Finding.Title, Severity: p.Finding.Severity, Before: p.Before,
			After: p.After, Unknown: d.Unverified[p.Finding.Fingerprint], fingerprint: p.Finding.Fingerprint,
		})
	}
	return all, nil
}

// count counts the findings of a replay, and lists those that changed.
func (out *Replay) count(seen map[replayKey]*Replayed, became map[replayKey]precedent.Outcome) {
	for key, f := range seen {
		x := became[key]
		accepted, answered := x.Label()
		out.Findings++
		then, now := f.Before.Dropped == "", f.After.Dropped == ""
		if f.Unknown != "" {
			out.Unknown++
			now = false
		}
		if then {
			out.Then.add(accepted, answered)
		}
		if now {
			out.Now.add(accepted, answered)
		}
		if then && !now && answered && accepted {
			out.HiddenAccepted++
		}
		if then != now || f.Unknown != "" {
			out.Changed = append(out.Changed, *f)
		}
	}
	slices.SortFunc(out.Changed, func(a, b Replayed) int {
		return cmp.Or(cmp.Compare(a.Severity.Rank(), b.Severity.Rank()), cmp.Compare(b.PullRequest, a.PullRequest),
			cmp.Compare(a.Finding, b.Finding))
	})
	out.Changed = out.Changed[:min(len(out.Changed), maxReplays)]
}

// Explain explains the finding whose id starts with the prefix. If names of what influenced it
// are given, it also says what the review would have decided without them: the beginning of the id of a memory or of a
// dismissed finding.
func (w *Workspace) Explain(ctx context.Context, idPrefix string, without []string) (precedent.Explanation, error) {
	e, err := w.Memory.Explain(ctx, idPrefix)
	if err != nil || len(without) == 0 {
		return e, err
	}
	r, err := w.Memory.Rows.Review(ctx, e.Review.ID)
	if errors.Is(err, store.ErrNoReview) {
		return e, Hinted(fmt.Errorf("the last review of finding %s is no longer stored", e.Finding.ID),
			"review the change again")
	}
	if err != nil {
		return e, err
	}
	out := review.LeaveOut(r, without)
	for _, name := range out.Unknown {
		id, err := w.Memory.Find(ctx, name)
		if err != nil {
			return e, err
		}
		out.Names = append(out.Names, id)
	}
	c, err := review.Without(r, e.Finding.Fingerprint, out)
	if errors.Is(err, review.ErrNoBasis) {
		return e, Hinted(fmt.Errorf("finding %s cannot be decided again: %w", e.Finding.ID, err),
			"an earlier version of precedent made the review; review the change again")
	}
	e.Counterfactual = &c
	return e, err
}
