package review

import (
	"cmp"
	"fmt"
	"math"

	"github.com/precedent-dev/precedent"
)

// Odds are the factors by which the odds of a finder's stated confidence change: each multiplies p/(1−p).
type Odds struct {
	// Confirmed and Uncertain are for the verdict of a verifier; a finding without one keeps its odds. Now is in place of
	// Confirmed if the verifier says that the finding is worth a change before the merge; 0 in reviews that did not have it.
	Confirmed, Now, Uncertain float64
	// Agreement is for each finder beyond the first that makes the same remark, up to mostAgreement.
	Agreement float64
}

// ShippedOdds returns the odds that reviews use. docs/decisions/0024-scores.md has the source of each factor.
func ShippedOdds() Odds { return Odds{Confirmed: 2, Now: 5, Uncertain: 0.25, Agreement: 1.5} }

// mostWithoutProof is the highest confidence in percent of a finding that no code
// proved. Analyzers prove theirs.
const mostWithoutProof = 97

// mostAgreement is the number of further finders that count as agreement.
const mostAgreement = 2

// uncertainDelta is what a severe finding, or one in a protected category, loses by an uncertain verdict, in percent
// points.
const uncertainDelta = -15

// deltaOfUncertain returns what an uncertain verdict takes from a guarded finding, in place of the factor of others: a
// change must not hide it by confusing its verifier. unproven tells that the verifier refuted it and no quote holds,
// which does not even lower a milder one in a protected category.
func deltaOfUncertain(f *precedent.Finding, unproven bool) int {
	if isSevere(f.Severity) || f.Category.Protected() && !unproven {
		return uncertainDelta
	}
	return 0
}

// score sets the confidence of findings from their finders' and what the earlier stages found for and against
// them. A doubting verifier cannot bring a severe finding below the threshold. Analyzers have a confidence by rule.
func score(fs []precedent.Finding, odds Odds, threshold int) {
	for i := range fs {
		f := &fs[i]
		if !f.Live() || f.Kept {
			continue
		}
		if f.Analyzer {
			f.Note("score", "%d: fixed, because it is from an analyzer", f.Confidence)
			continue
		}
		said := f.Confidence
		confidence, why := odds.Of(f)
		if f.Verifier == precedent.Uncertain && isSevere(f.Severity) {
			undoubted := *f
			undoubted.Balance -= uncertainDelta
			before, _ := odds.Of(&undoubted)
			confidence = max(confidence, min(before, threshold))
		}
		f.Confidence = confidence
		f.Note("score", "%d: the finder's %d%s%s", confidence, said, signed(f.Balance), why)
	}
}

// Of returns the confidence of a finding in percent: the chance that its finder stated, corrected by what was found
// for and against it, after the factors of its verdict and of agreement, and words for both. An uncertain verdict
// has no factor for a guarded finding, from which the ruling took deltaOfUncertain.
func (o Odds) Of(f *precedent.Finding) (confidence int, why string) {
	factor := 1.0
	switch f.Verifier {
	case precedent.Confirmed:
		factor, why = o.Confirmed, ", confirmed"
		if f.Now {
			factor, why = cmp.Or(o.Now, o.Confirmed), ", confirmed, wanted now"
		}
	case precedent.Uncertain:
		why = ", uncertain"
		if !f.Category.Protected() && !isSevere(f.Severity) {
			factor = o.Uncertain
		}
	}
	if f.Votes > 1 {
		factor *= math.Pow(o.Agreement, float64(min(f.Votes-1, mostAgreement)))
		why += fmt.Sprintf(", %d finders", f.Votes)
	}
	return apply(f.Confidence+f.Balance, factor), why
}

// apply multiplies the odds of a chance in percent, which counts as 1 to 99.
func apply(confidence int, factor float64) int {
	p := float64(min(max(confidence, 1), 99)) / 100
	return min(int(math.Round(100*p*factor/(1-p+p*factor))), mostWithoutProof)
}
