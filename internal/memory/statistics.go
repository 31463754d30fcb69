package memory

import (
	"context"
	"time"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
	"github.com/precedent-dev/precedent/internal/store"
)

// Targets of the success measures, and the month that the first of them compares with.
const (
	targetInline   = 0.8
	targetAccepted = 0.9
	targetFindings = 2 // times the findings of the first month
	targetResolved = 0.7
	targetGuide    = 0.95

	firstMonth = 30 * 24 * time.Hour
)

// Statistics are numbers about the reviews of a repository since a time. Nothing is estimated: what the memory does not
// have is missing.
type Statistics struct {
	Since time.Time `json:"since,omitzero"` // zero for all
	// Measures are the five success measures.
	Measures []Measure `json:"measures"`

	Reviews   int                           `json:"reviews"`
	Pulls     int                           `json:"pull_requests"`
	Verdicts  map[precedent.Verdict]int     `json:"verdicts"`
	Shown     map[precedent.Placement]int   `json:"shown"`  // new findings, by placement
	Hidden    map[precedent.Dropped]int     `json:"hidden"` // findings that are not shown, by reason
	Audited   int                           `json:"audited"`
	Threads   map[precedent.ThreadState]int `json:"threads"`
	Outcomes  map[precedent.OutcomeKind]int `json:"outcomes"`
	Rounds    float64                       `json:"rounds"` // reviewed heads of a pull request, mean; 0 without one
	Usage     precedent.Usage               `json:"usage"`
	CostUSD   float64                       `json:"cost_usd"`
	TookMS    int64                         `json:"took_ms"` // median of a review with a model
	WithModel int                           `json:"reviews_with_model"`
	Guided    int                           `json:"reviews_with_guide"`

	// Acceptance of posted findings that people answered, by what they were.
	BySeverity   []Answered              `json:"acceptance_by_severity"`
	ByCategory   []Answered              `json:"acceptance_by_category"`
	ByFinder     []Answered              `json:"acceptance_by_finder"`
	ByConfidence calibration.Reliability `json:"reliability"`
	Optimal      calibration.Optimal     `json:"optimal_threshold"` // the lowest above which 90 % were accepted
	Thresholds   []store.Threshold       `json:"thresholds"`        // changes, oldest first

	Learnings Counted             `json:"learnings"`
	People    []Person            `json:"people"`
	Hotspots  []precedent.Hotspot `json:"hotspots"`
}

// Measure is one success measure.
type Measure struct {
	Name    string   `json:"name"`
	Value   *float64 `json:"value"` // nil without data
	Target  float64  `json:"target"`
	Samples int      `json:"samples"` // what Value is computed from, as Of counts it
	Of      string   `json:"of"`
}

// Met reports whether the target is reached.
func (m *Measure) Met() bool { return m.Value != nil && *m.Value >= m.Target }

// Answered counts what people accepted and rejected.
type Answered struct {
	Name     string `json:"name"`
	Accepted int    `json:"accepted"`
	Rejected int    `json:"rejected"`
}

// Counted says how the learnings of a repository were used.
type Counted struct {
	Active  int `json:"active"`
	Pending int `json:"pending"`
	Loaded  int `json:"loaded"` // by reviews
	Used    int `json:"used"`
	Never   int `json:"never_used"` // active ones that no review used
}

// Person is what one person said about findings. Preferences are the active learnings that came
// from the person.
type Person struct {
	Login       string `json:"login"`
	Accepted    int    `json:"accepted"`
	Declined    int    `json:"declined"`
	Dismissed   int    `json:"dismissed"` // dismissals that hold
	Preferences int    `json:"preferences"`
}

type sample struct {
	since      time.Time
	reviews    []store.ReviewFacts
	baseline   []store.ReviewFacts // of the first month
	outcomes   []precedent.Outcome
	labels     []calibration.Label // the newest, as calibration reads them
	thresholds []store.Threshold
	threads    map[precedent.ThreadState]int
	learnings  []precedent.Learning
	dismissals []precedent.Dismissal
}

// Statistics returns the numbers of the repository since a time; all if it is zero.
func (m *Memory) Statistics(ctx context.Context, since time.Time) (Statistics, error) {
	out, _, _, err := m.StatisticsOf(ctx, since)
	return out, err
}

// StatisticsOf returns them with the reviews and the outcomes that they are computed from, the oldest first.
func (m *Memory) StatisticsOf(ctx context.Context, since time.Time) (out Statistics, reviews []store.ReviewFacts,
	outcomes []precedent.Outcome, err error,
) {
	s, err := m.sample(ctx, since)
	if err != nil {
		return out, nil, nil, err
	}
	out = s.statistics()
	out.Hotspots, err = m.Hotspots(ctx, maxHotspotsShown)
	return out, s.reviews, s.outcomes, err
}

const maxHotspotsShown = 5
