package review

import (
	"encoding/json"
	"slices"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/calibration"
)

// maxBasisMemories bounds the dismissals and learnings that are kept with one review: more than
// explain can show.
const maxBasisMemories = 500

// scoring is how verdicts and outcomes become confidence.
type scoring struct {
	Odds  Odds
	Curve calibration.Curve
}

// beginBasis begins to record what the decisions about live findings are made from.
func beginBasis(fs []precedent.Finding) {
	for i := range fs {
		f := &fs[i]
		f.Basis = nil
		if f.Live() {
			f.Basis = &precedent.FindingBasis{
				Confidence: f.Confidence, Balance: f.Balance, Severity: f.Severity, Asked: len(f.Trail), Kept: f.Kept,
			}
		}
	}
}

// Marks in the trail of a finding.
func beforeScore(b *precedent.FindingBasis) *int     { return &b.Scored }
func afterWeighing(b *precedent.FindingBasis) *int   { return &b.Weighed }
func beforeSelection(b *precedent.FindingBasis) *int { return &b.Selected }

// mark records how long the trails of the findings are.
func mark(fs []precedent.Finding, where func(*precedent.FindingBasis) *int) {
	for i := range fs {
		if b := fs[i].Basis; b != nil {
			*where(b) = len(fs[i].Trail)
		}
	}
}

// basis returns what the decisions about all findings were made from; nil if it is too large
// to keep. It also records which findings that are not shown could have a comment.
func (x *reader) basis() *precedent.Basis {
	in, fs := x.in, x.r.Findings
	scores, _ := json.Marshal(scoring{ShippedOdds(), in.Recall.Learned.Curve}) // numbers
	basis := &precedent.Basis{
		Threshold: *in.Threshold, ThresholdFrom: in.ThresholdFrom, Tuned: in.tuned, MaxInline: in.MaxInline, Scores: scores,
		Guide: len(in.Guide.Docs),
		Focus: in.Policy.Focus, Ignore: in.Policy.Ignore, Floors: in.Policy.Floors, Minor: in.Policy.Minor,
	}
	spoke := map[string]bool{}
	for i := range fs {
		if f := fs[i]; f.Basis != nil {
			spoke[f.Basis.Exact] = true
			for _, id := range slices.Concat(f.Basis.Patterns, f.Basis.Learnings) {
				spoke[id] = true
			}
			in.commentable(&f) // a copy, whose lines may be shortened
		}
	}
	for _, j := range in.Recall.Dismissals {
		if !spoke[j.ID] {
			continue
		}
		x.secrets.redact(&j.Claim, &j.Reason, &j.Who)
		basis.Dismissals = append(basis.Dismissals, j)
	}
	for _, l := range in.Recall.Learnings {
		if spoke[l.ID] {
			l.Rationale, l.From.Words = "", "" // no decision needs them
			x.secrets.redact(&l.Directive, &l.From.Who)
			basis.Learnings = append(basis.Learnings, l.Learning)
		}
	}
	if len(basis.Dismissals)+len(basis.Learnings) > maxBasisMemories {
		return nil
	}
	return basis
}
