package review

import (
	"fmt"

	"github.com/precedent-dev/precedent"
	"github.com/precedent-dev/precedent/internal/lint"
)

// capped returns a confidence in percent of a finding, at most what it can have
// without a proof.
func capped(f *precedent.Finding, n int) int {
	if f.Analyzer {
		return percent(n)
	}
	return min(percent(n), mostWithoutProof)
}

// leastMinor is the confidence in percent below which a finding is not even shown folded. Of 40 findings that were
// folded without a bound, 3 were worth a change.
const leastMinor = 50

// minorWhy returns why a finding that is likely true is mostly not worth a change; empty if it is worth one, not
// likely true, or lowered by a dismissal.
func (in *Input) minorWhy(f *precedent.Finding) string {
	threshold := in.thresholdFor(f)
	switch {
	case f.Weighed < 0, f.Finder == lint.LintersName: // people configured the linters
	case f.Confidence < threshold:
		if f.Verifier == precedent.Confirmed && f.Confidence >= leastMinor && f.Confidence < DefaultThreshold {
			return fmt.Sprintf("true, but confidence %d is below the threshold of %d (%s)", f.Confidence, threshold,
				in.ThresholdFrom)
		}
	case isSevere(f.Severity), f.Category.Protected() && !f.Analyzer:
	case f.Later:
		return "true, but not worth a change now, says the verifier"
	case f.Severity == precedent.Nit, f.Severity == precedent.Low && len(f.Cites) == 0 && !f.Now:
		return fmt.Sprintf("its severity is %s", f.Severity)
	}
	return ""
}

// shows reports whether a scored finding is shown like others, not folded.
func (in *Input) shows(f *precedent.Finding) bool {
	if in.minorWhy(f) != "" {
		return in.Policy.Minor == precedent.MinorShow
	}
	return f.Confidence >= in.thresholdFor(f)
}

// canBeShown reports whether a finding would be shown if a verifier confirmed it, be it folded. A severe one is
// always verified.
func (in *Input) canBeShown(f *precedent.Finding) bool {
	if isSevere(f.Severity) || in.shows(in.confirmed(f, true)) {
		return true
	}
	return in.minorWhy(in.confirmed(f, false)) != "" && in.Policy.Minor != precedent.MinorOff
}

// confirmed returns a finding as it would be at best if a verifier confirmed it, and perhaps wanted it changed now.
func (in *Input) confirmed(f *precedent.Finding, now bool) *precedent.Finding {
	best := *f
	best.Verifier, best.Now = precedent.Confirmed, now
	best.Confidence, _ = ShippedOdds().Of(&best)
	best.Confidence = capped(&best, in.refitted(&best)+focusDelta)
	return &best
}

func percent(n int) int { return min(max(n, 0), 100) }

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %+d", n)
}
