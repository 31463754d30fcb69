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

// ShippedOdds returns the odds that reviews use. The factors of verdicts are likelihood ratios of findings that were
// judged without knowledge of their verdict. Of 87 findings of eight pull requests, the verifier confirmed 22 of the 25
// that were worth fixing before the merge and 28 of the 62 others: (22/25)/(28/62) is 1.9, and (3/25)/(34/62) for the
// rest 0.22. Of 97 findings of eight others, it wanted 30 of the 36 changed now that were worth fixing, and 6 of the 61
// others, 8.5, lowered to 5, because verifier and judge were models of one kind. Six products that agree multiply the
// odds by 1.9 each (137 golden issues); finders that share a model agree more easily.
func ShippedOdds() Odds { return Odds{Confirmed: 2, Now: 5, Uncertain: 0.25, Agreement: 1.5} }

// mostWithoutProof is the highest confidence in percent of a finding that no code
// proved. Analyzers prove theirs.
const mostWithoutProof = 97

// mostAgreement is the number of further finders that count as agreement.
const mostAgreement = 2

// Of returns the confidence of a finding in percent: the chance that its finder stated, corrected by what was found
// for and against it, after the factors of its verdict and of agreement, and words for both. An uncertain verdict
// does not count against a finding that is severe or in a protected category beyond what a ruling took from it, so
// that a change cannot hide it by confusing its verifier.
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
