// Package calibration learns from what became of posted findings: which confidence
// is worth showing in a repository, and how good its confidences are as chances.
//
// All functions are pure and give the same result for the same labels. Nothing is
// learned from a finding without a label: that nobody answered says nothing.
package calibration

import (
	"time"

	"github.com/precedent-dev/precedent"
)

// Label is what became of one posted finding: whether the team accepted it.
type Label struct {
	Confidence int // percent, as it was posted
	// Refit is what Refit had added to the confidence, in percent points.
	Refit    int
	Accepted bool
	Finder   string
	// Analyzer tells that the confidence is an analyzer's, which is never refitted.
	Analyzer bool
	Category precedent.Category
	Severity precedent.Severity
	At       time.Time // when it was determined
}

// The rule of the threshold: its range in percent, where it starts, the share of posted
// findings that a team should accept, and the number of labels before which nothing is
// promised: 22 accepted ones in a row show a precision of .9 at a level of .1.
const (
	Lowest      = 50
	Highest     = 95
	Start       = 75
	Target      = 0.9
	LeastLabels = 22
)
