package review

import (
	"fmt"

	"github.com/precedent-dev/precedent"
)

// score sets the confidence of findings. A verifier's verdict replaces the finder's
// guess. Without a verdict the guess counts, changed by what the earlier stages found
// for and against it; a doubting verifier cannot bring a severe finding below the
// threshold. Analyzers have a confidence by rule.
func score(fs []precedent.Finding, table Scores, threshold int) {
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
		if confidence, row, ok := table.Of(f); ok {
			f.Confidence = confidence
			f.Note("score", "%d by the table (%s%s), in place of the finder's %d", confidence, row, agreement(f), said)
			continue
		}
		f.Confidence = table.percent(float64(said+f.Balance)/100, f.Votes)
		if f.Verifier == precedent.Uncertain && isSevere(f.Severity) {
			unlowered := table.percent(float64(said+f.Balance-uncertainDelta)/100, f.Votes)
			f.Confidence = max(f.Confidence, min(unlowered, threshold))
		}
		f.Note("score", "%d: the finder's %d%s%s, which no verdict replaces", f.Confidence, said, signed(f.Balance),
			agreement(f))
	}
}

// capped returns a confidence in percent of a finding, at most what it can have
// without a proof.
func capped(f *precedent.Finding, n int) int {
	if f.Analyzer {
		return percent(n)
	}
	return min(percent(n), mostWithoutProof)
}

// isMinor reports whether a finding that is not shown is true, but mostly not worth a
// change: a verifier confirmed it, its confidence is below the usual threshold, and no
// dismissal lowered it.
func isMinor(f *precedent.Finding) bool {
	return f.Verifier == precedent.Confirmed && f.Confidence < DefaultThreshold && f.Weighed >= 0
}

// canBeShown reports whether a finding would be shown if a verifier confirmed it, be it
// folded.
func (in *Input) canBeShown(f *precedent.Finding) bool {
	best, scores := *f, ShippedScores()
	best.Verifier = precedent.Confirmed
	best.Confidence, _, _ = scores.Of(&best)
	if best.Confidence = in.refitted(&best); best.Confidence < DefaultThreshold && in.Policy.Minor != precedent.MinorOff {
		return true
	}
	return best.Confidence+focusDelta >= in.thresholdFor(f)
}

func agreement(f *precedent.Finding) string {
	if f.Votes < 2 {
		return ""
	}
	return fmt.Sprintf(", %d finders", f.Votes)
}

func percent(n int) int { return min(max(n, 0), 100) }

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %+d", n)
}
